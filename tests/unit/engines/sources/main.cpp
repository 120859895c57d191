// Tells what it was built with, as llama-server does, and more of it.
#include <cassert>
#include <cstdio>
#include <string>
#include "gate.h"

std::string first();
std::string second();

int main(int count, char ** arguments) {
    std::printf("version: 0.0.1 (build %d, commit sdist)\n", BUILD);
    std::printf("built with GNU for Linux\n");
    std::printf("native: %s\nfile: %s\ncommit: [%s]\n", NATIVE, __FILE__, COMMIT);
    std::printf("parsers: %s%s\n", first().c_str(), second().c_str());
    assert(count < 3 && arguments);
    return 0;
}
