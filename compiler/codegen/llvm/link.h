// link.h: links an object and the runtime to a shared library or a program.
#pragma once

#include <string>

#include "compiler/support/result.h"

namespace relaxc::codegen_llvm {

struct Linking {
  std::string object, path;    ///< what is linked, and what it becomes
  std::string shown;           ///< how messages call `path`
  std::string triple;          ///< of the object
  std::string name;            ///< of the model: the prefix of its symbols
  bool program = false;        ///< with the runner's main(); else a library that exports the object's global symbols
  bool shared_memory = false;  ///< a WebAssembly module whose memory the loader makes, for threads (wasm atomics)
  bool prints = false;         ///< the object prints, so a library of it takes the hosted runtime's way to do that
  std::string compiler;        ///< a C compiler for the triple and its flags; empty: cc, or clang for another machine
  std::string import_library;  ///< of a .dll: where the .lib goes that programs link with; empty: nowhere
  std::string runtime;  ///< librelax_rt.a of that machine with its siblings beside it, or a folder of its sources
};

/// Checks what can be known before there is an object. Fails (usage) if there is no compiler or no runtime, if `path`
/// has the extension of another format, or if the machine has no shared libraries or programs.
Status check_linking(const Linking& what, Diagnostics& diag);

/// Links by a C compiler. Fails as check_linking does, and (io) if the compiler fails, which has printed the reason.
Status link(const Linking& what, Diagnostics& diag);

}  // namespace relaxc::codegen_llvm
