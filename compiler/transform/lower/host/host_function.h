// host_function.h: one Relax function as a host prim func: its shape program and its calls.
//
// The pass lower_functions makes one of these for each function, callees first. Owns the parts (host_lowering.h) and
// runs them in order: parameters, entry symbols, outputs, the body, results.
#pragma once

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

class HostFunction {
 public:
  HostFunction(Shared& shared, relax::Function& function, Form form) : parts_(shared, function, form) {}

  /// Adds the prim funcs to the module and, for a public function, the entry to the object. A public function that
  /// others call and that needs the heap has two forms; `entry_is_missing` says that this one has no entry.
  Status run();
  /// Tells callers what they need to know of a function that calls itself, before any of its cycle is lowered.
  Status announce();
  bool entry_is_missing() const { return parts_.entry_is_missing(); }

 private:
  Status check_known() const;

  HostLowering parts_;
};

}  // namespace relaxc::lower
