/* A library beside the server: libllama, or a backend. BUILD is what it answers. */
int llama_build(void);
int llama_build(void) { return BUILD; }
