// SPDX-License-Identifier: MIT
// tests/compiler/corpus/in_program.cpp: the corpus linked into a program that is not position
// independent (-no-pie -rdynamic); the lifter comes as a module.
//
//   in_program LIFT_CORPUS.so corpus.txt
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* module = argc == 3 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  void* entry = module != nullptr ? dlsym(module, "lift_corpus") : nullptr;
  if (entry == nullptr) {
    std::fprintf(stderr, "usage: in_program LIFT_CORPUS.so corpus.txt\n");
    return 2;
  }
  return reinterpret_cast<int (*)(const char*, const char*)>(entry)("-", argv[2]);
}
