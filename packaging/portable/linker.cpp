// linker.cpp: LLVM's linker for ELF as a function that the library exports.
#include <lld/Common/Driver.h>

LLD_HAS_DRIVER(elf)

extern "C" int relaxc_link(int argc, char** argv);

int relaxc_link(int argc, char** argv) {
  return lld::elf::link({argv, static_cast<size_t>(argc)}, llvm::outs(), llvm::errs(), true, false) ? 0 : 1;
}
