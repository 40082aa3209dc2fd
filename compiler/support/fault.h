// fault.h: what an unexpected exception means.
#pragma once

#include <string>

namespace relaxc {

struct Fault {
  enum Kind {
    kMemory,   ///< memory ran out
    kSystem,   ///< the system refuses something
    kInternal  ///< a bug of relaxc
  } kind = kInternal;
  std::string text;
};

/// Of the exception that is being handled: to be called in a catch clause.
Fault current_fault();

}  // namespace relaxc
