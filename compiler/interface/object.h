// object.h: the interface of an emitted object, in the terms of docs/abi.md.
//
// Lowering fills these records; entry_functions.h makes functions of them, tables.h constant tables, and the
// header printer C declarations. They have names of prim funcs, never code, so that a backend only has to print
// them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "compiler/tir/prim_func.h"
#include "compiler/tir/quantization.h"

namespace relaxc::interface {

/// An rlx_symbol, and the input from which `bind` reads its value.
struct Symbol {
  std::string name;
  int64_t lower = 0, upper = INT64_MAX, multiple_of = 1;
  int32_t tensor = -1, axis = -1;  ///< the input dim that is its value; -1: Entry::values reads it from data
  std::string identifier = {};     ///< of its field or macro, different from all other fields
};

using tir::Quantization;  // an rlx_quant

/// An rlx_tensor_spec.
struct Tensor {
  std::string name;             ///< the model's name for it
  std::string identifier;       ///< the C identifier made of it, unique among the entry's inputs and outputs
  std::string dims_identifier;  ///< the field of its dims, if it is a data-dependent output
  enum Kind : uint8_t { kTensor, kShape, kScalar, kString, kSequence, kOptional, kMap, kHandle } kind = kTensor;
  DType dtype;
  std::vector<int64_t> dims;          ///< >= 0: static; -1-k: symbol k; INT64_MIN: derived or data-dependent
  std::vector<std::string> dim_text;  ///< "n * 4", for comments
  bool data_dependent = false;        ///< whether a dim is known only after the run
  bool strided = false;               ///< whether strides are accepted
  int32_t pair = -1;                  ///< of a state: index of the output (input) that is its other side
  int32_t append_axis = -1;
  std::optional<Quantization> quant;  ///< the real values of its integers, if known
};

/// An rlx_memory_pool_spec: memory of the caller in addition to the arena.
struct Pool {
  std::string name;
  uint64_t bytes = 0;
};

/// One function that the object offers: its interface, and the prim funcs that implement it. These have the following
/// parameters, in order:
///   shapes: the symbols (index scalars, in order); `dims`: int64 buffer that receives every dim of every input, then
///           of every output (upper bounds where data-dependent, INT64_MAX: none). Guards check derived relations and
///           declared bounds.
///   arena:  the symbols; `bytes`: int64 buffer of one element that receives the arena's size
///   values: the input buffers; the symbols known from dims; `symbols`: int64 buffer of all symbols, in which it sets
///           those that are read from data. Its name is empty if there are none.
///   call:   the input buffers; the output buffers; `arena` (uint8); the pools (uint8); `weights` (uint8, in
///           Scope::kWeights); `out_dims` (int64: all dims of all outputs, of which it sets the data-dependent ones);
///           the symbols
struct Entry {
  std::string name;
  std::string identifier;  ///< its part of global names; "" of "main"
  std::vector<Tensor> inputs, outputs;
  std::vector<Symbol> symbols;
  std::vector<std::string> nodes;  ///< by the numbers that calls and guards have: names of kernels, and of what failed
  size_t num_kernels = 0;          ///< the first ones are kernels
  std::string shapes, arena, values, call;
  uint64_t arena_max = 0;  ///< UINT64_MAX if unbounded
  uint32_t arena_align = 64;
  std::vector<Pool> pools;  ///< with the bytes that a call needs of each; aligned like the arena
  bool needs_allocator = false;
};

inline constexpr uint32_t kPrimFuncArenaAlign = 64;  ///< of the arena of a prim func that C calls, in bytes

/// A prim func of the source program that is an entry point: plain C arguments, destination passing style.
struct PublicPrimFunc {
  std::string name;
  /// If it needs more memory than its frame: the prim func that takes the arena (uint8) as its last buffer, and the one
  /// that takes the index scalars, the symbols and `bytes` (an int64 buffer of one element), like Entry::arena. Else
  /// empty.
  std::string with_arena = {}, arena = {};
  uint64_t arena_bytes = UINT64_MAX;  ///< the arena's size, if it is constant
  std::string identifier = {};        ///< its part of global names

  /// The prim func that implements it.
  const std::string& callee() const { return with_arena.empty() ? name : with_arena; }
};

/// An external function that the linking program must define; the header declares it.
struct External {
  std::string name;
  std::string prototype;  ///< C declaration without the trailing semicolon
};

/// Read-only model data, produced in pieces while it is written.
struct Weights {
  uint64_t bytes = 0;
  uint32_t alignment = 64;
  bool separate = false;  ///< in a file of their own, after a header; context->weights points to it
  /// Calls `sink` with consecutive pieces that add up to `bytes`.
  std::function<void(const std::function<void(const std::byte* data, size_t size)>& sink)> stream;
};

/// Size of the header of a separate weights file (rlx_weights_header); the weights follow it.
inline constexpr uint64_t kWeightsHeaderBytes = 64;

/// Returns rlx_model.weights_bytes: the size of the separate file, 0 if there is none.
inline uint64_t weights_file_bytes(const Weights& weights) {
  return weights.separate ? kWeightsHeaderBytes + weights.bytes : 0;
}

/// Inputs and expected outputs in the object, for `<name>_selftest` (rlx_selftest in rlx_internal.h).
struct Selftest {
  std::vector<std::byte> data;  ///< empty without a self-test
  uint64_t arena_bytes = 0;     ///< size of the arena that it requires
};

/// The hooks of the context that are called around every kernel.
struct Hooks {
  bool trace = false;  ///< called before and after the kernel
  bool poll = false;   ///< called before the kernel; says whether to go on

  /// Returns whether a call with this tir::Invoke::trace_node has a hook.
  bool at(int32_t trace_node) const { return trace_node >= 0 && (trace || poll); }
};

/// All that a backend needs.
struct Object {
  std::string name;                             ///< the prefix of every global symbol
  std::string producer;                         ///< "relaxc 0.1.0"
  std::array<uint8_t, 32> hash{};               ///< of inputs, flags and compiler
  std::array<uint8_t, 8> interface_hash{};      ///< of the header's promises: names, dtypes, dims, symbols
  std::vector<const tir::PrimFunc*> functions;  ///< callees before callers; fixed order
  std::vector<Entry> entries;
  std::vector<PublicPrimFunc> public_prim_funcs;
  std::vector<External> externals;
  bool prints = false;  ///< whether it refers to rlx_print
  Hooks hooks;
  std::string arena_name;  ///< the pool of --pool that is the arena; empty if none
  Weights weights;
  Selftest selftest;
};

/// Returns a C identifier for a name from a model: letters, digits and single underscores stay, other bytes become
/// `_xHH_`, as do a leading digit and a C keyword's first letter. Injective, independent of other names (docs/abi.md).
std::string identifier(std::string_view name);

}  // namespace relaxc::interface
