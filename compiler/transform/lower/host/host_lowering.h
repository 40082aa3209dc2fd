// host_lowering.h: the state of the lowering of one host function, by owners.
//
//   InsertionPoint   statements, region by region
//   Origins          names of ops in messages
//   ShapeProgram     symbols, guards, sizes
//   Heap             memory whose size has no bound
//   Memory           tensors in the arena, views, constants
//   Values           the storage of each Relax value
//   Signature        inputs and outputs
//   Destinations     buffers that values are written to
//   EntrySymbols     symbols whose values are read before the call
//
// Each uses only those above it. Lowerings of ops (op_lowering.h) use all of them and keep no state between ops.
#pragma once

#include "compiler/transform/lower/host/destinations.h"
#include "compiler/transform/lower/host/entry_symbols.h"

namespace relaxc::lower {

/// Who calls a host function. kShared: other host functions, and callers outside unless it needs the heap. kEntry:
/// callers outside alone, who provide memory for all results but no heap.
enum class Form : uint8_t { kShared, kEntry };

/// The state of lowering one Relax function; its members own the parts of the host function.
struct HostLowering {
  HostLowering(Shared& shared, relax::Function& function, Form form);
  HostLowering(const HostLowering&) = delete;

  Shared& shared;
  relax::Function& function;
  const Form form;
  InsertionPoint at;
  Origins origins;
  ShapeProgram shapes;
  Heap heap;
  Memory memory;
  Values values;
  Signature signature;
  Destinations destinations;
  EntrySymbols entry;

  /// Whether this is the kShared form of a function that calls itself, directly or not.
  bool is_recursive() const { return form == Form::kShared && shared.recursive.count(function.name) != 0; }
  /// Whether the function is public, but callers outside need another form because this one takes the heap.
  bool entry_is_missing() const { return form == Form::kShared && !function.is_private && heap.is_needed(); }
  Context& context() const { return shared.module.context(); }
  Diagnostics& diag() const { return shared.context.diag; }
};

}  // namespace relaxc::lower
