/* A llama-server in what starting one takes: it tells its version, loads a backend from beside
   itself, and answers /health and /props. BUILD is its build number. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int llama_build(void);

static void load_backend(void) {
    char path[4096] = {0};
    if (readlink("/proc/self/exe", path, sizeof path - 64) < 0) exit(3);
    strcpy(strrchr(path, '/'), "/libggml-cpu-stub.so");
    dlopen(path, RTLD_NOW);
}

static void answer(int client, const char *key, const char *alias) {
    char request[65536] = {0}, body[512], wanted[512];
    size_t have = 0;
    while (!strstr(request, "\r\n\r\n") && have < sizeof request - 1) {
        ssize_t got = read(client, request + have, sizeof request - 1 - have);
        if (got <= 0) return;
        have += (size_t)got;
    }
    snprintf(wanted, sizeof wanted, "Bearer %s", key);
    int known = !strncmp(request, "GET /health", 11) || strstr(request, wanted);
    snprintf(body, sizeof body,
             known ? "{\"model_alias\":\"%s\",\"build_info\":\"b%d-stub\",\"total_slots\":1}" : "{}",
             alias, llama_build());
    dprintf(client, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
            known ? "200 OK" : "401 Unauthorized", strlen(body), body);
}

int main(int count, char **arguments) {
    const char *alias = "", *key = getenv("LLAMA_API_KEY");
    int port = 0, yes = 1;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--version")) {
            fprintf(stderr, "version: %d (abcdef01)\nbuilt with cc 1.0 for x86_64\n", BUILD);
            return 0;
        }
        if (!strcmp(arguments[i], "--list-devices")) {
            load_backend();
            return 0;
        }
        if (!strcmp(arguments[i], "--port") && i + 1 < count) port = atoi(arguments[i + 1]);
        if (!strcmp(arguments[i], "--alias") && i + 1 < count) alias = arguments[i + 1];
    }
    load_backend();
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 8)) return 4;
    for (;;) {
        int client = accept(listener, NULL, NULL);
        answer(client, key ? key : "", alias);
        close(client);
    }
}
