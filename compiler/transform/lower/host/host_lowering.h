// host_lowering.h: the state of the lowering of one host function, by owners.
//
//   InsertionPoint   statements, region by region
//   Origins          names of ops in messages
//   ShapeProgram     symbols, guards, sizes
//   Heap             memory whose size has no bound
//   Memory           tensors in the arena, views, constants
//   Values           what each Relax value is
//   Signature        inputs and outputs
//   Destinations     where what is made is written
//   EntrySymbols     numbers that are read before the call
//
// Each uses those above it alone. Lowerings of ops (op_lowering.h) use all of them, and keep nothing between ops.
#pragma once

#include "compiler/transform/lower/host/destinations.h"
#include "compiler/transform/lower/host/entry_symbols.h"

namespace relaxc::lower {

/// Who calls a host function: other host functions (and the outside, if that makes no difference), or the outside
/// alone, which gives memory for all results but no heap.
enum class Form : uint8_t { kShared, kEntry };

/// Lowers one Relax function; its members own the parts of the host function.
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

  /// It is called by itself, directly or not.
  bool is_recursive() const { return form == Form::kShared && shared.recursive.count(function.name) != 0; }
  /// It is public, and this is the form of it that cannot be called from outside.
  bool entry_is_missing() const { return form == Form::kShared && !function.is_private && heap.is_needed(); }
  Context& context() const { return shared.module.context(); }
  Diagnostics& diag() const { return shared.context.diag; }
};

}  // namespace relaxc::lower
