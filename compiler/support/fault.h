// fault.h: classifies unexpected exceptions.
#pragma once

#include <string>

namespace relaxc {

struct Fault {
  enum Kind {
    kMemory,   ///< out of memory
    kSystem,   ///< an error of the operating system
    kInternal  ///< a bug of relaxc
  } kind = kInternal;
  std::string text;
};

/// Returns the fault of the exception that is being handled; must be called in a catch clause.
Fault current_fault();

}  // namespace relaxc
