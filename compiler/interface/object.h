// object.h: what an emitted object shows the outside world, in the terms of docs/abi.md.
//
// Lowering fills these records; entry_functions.h makes functions of them, tables.h constant tables, and the header
// printer C declarations. They hold names of prim funcs, never code, so that a backend only has to print what it is
// given.
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

/// An rlx_symbol and where `bind` finds its value.
struct Symbol {
  std::string name;
  int64_t lower = 0, upper = INT64_MAX, multiple_of = 1;
  int32_t tensor = -1, axis = -1;  ///< the input dim that gives its value; -1: read from data by Entry::values
};

using tir::Quantization;  // an rlx_quant

/// An rlx_tensor_spec.
struct Tensor {
  std::string name;        ///< as the model says it
  std::string identifier;  ///< the C identifier made of it, unique among the entry's inputs and outputs
  enum Kind : uint8_t { kTensor, kShape, kScalar, kString, kSequence, kOptional, kMap, kHandle } kind = kTensor;
  DType dtype;
  std::vector<int64_t> dims;          ///< >= 0 static; -1-k: symbol k; INT64_MIN: derived or data-dependent
  std::vector<std::string> dim_text;  ///< "n * 4": for comments
  bool data_dependent = false;        ///< some dim is known only after the run
  bool strided = false;               ///< strides are accepted
  int32_t pair = -1;                  ///< state: index of the output (input) that carries it
  int32_t append_axis = -1;
  std::optional<Quantization> quant;  ///< what its integers stand for, where that is known
};

/// An rlx_memory_pool_spec: memory of the caller beside the arena.
struct Pool {
  std::string name;
  uint64_t bytes = 0;
};

/// One function that the object offers. The prim funcs named here have, in order, the parameters:
///   shapes: the symbols (index scalars, in order); `dims`: int64 buffer that receives every dim of every input, then
///   of every output
///           (upper bounds where data-dependent, INT64_MAX: none). Guards check derived relations and declared bounds.
///   arena:  the symbols; `bytes`: int64 buffer of one element that receives the arena's size
///   values: the input buffers; the symbols known from dims; `symbols`: int64 buffer of all symbols, in which it fills
///   in the others.
///           Empty name if no symbol is read from data.
///   call:   the input buffers; the output buffers; `arena` (uint8); the pools (uint8); `weights` (uint8,
///   Scope::kWeights); `out_dims` (int64: all dims of all
///           outputs, of which it writes those that depend on data); the symbols
struct Entry {
  std::string name;
  std::vector<Tensor> inputs, outputs;
  std::vector<Symbol> symbols;
  std::vector<std::string> nodes;  ///< by the numbers that calls and guards give: names of kernels, and what failed
  size_t num_kernels = 0;          ///< how many of them are kernels
  std::string shapes, arena, values, call;
  uint64_t arena_max = 0;  ///< UINT64_MAX: unbounded
  uint32_t arena_align = 64;
  std::vector<Pool> pools;  ///< with the bytes that a call needs of each, aligned as the arena
  bool needs_allocator = false;
};

inline constexpr uint32_t kPrimFuncArenaAlign = 64;  ///< of the arena of a prim func that C calls

/// A prim func of the source program that is an entry point of its own: plain C arguments, destination passing.
struct PublicPrimFunc {
  std::string name;
  /// Of one that needs more memory than its frame: the prim func that takes the arena (uint8) as its last buffer, and
  /// the one that takes the index scalars, the symbols and `bytes` (an int64 buffer of one element), as Entry::arena
  /// does. Empty: it needs none.
  std::string with_arena = {}, arena = {};
  uint64_t arena_bytes = UINT64_MAX;  ///< where that is one number

  /// The prim func that a call runs.
  const std::string& callee() const { return with_arena.empty() ? name : with_arena; }
};

/// An external function that the linking program must define; declared in the header.
struct External {
  std::string name;
  std::string prototype;  ///< C declaration without the trailing semicolon
};

/// Read-only model data, produced piece by piece while it is written.
struct Weights {
  uint64_t bytes = 0;
  uint32_t alignment = 64;
  bool separate = false;  ///< in a file of their own, behind a header; context->weights points at it
  /// Calls `sink` with consecutive pieces that add up to `bytes`.
  std::function<void(const std::function<void(const std::byte* data, size_t size)>& sink)> stream;
};

/// Bytes of the header of a separate weights file (rlx_weights_header), where the weights begin.
inline constexpr uint64_t kWeightsHeaderBytes = 64;

/// What rlx_model.weights_bytes says: the size of the separate file, 0 if there is none.
inline uint64_t weights_file_bytes(const Weights& weights) {
  return weights.separate ? kWeightsHeaderBytes + weights.bytes : 0;
}

/// Inputs and the outputs to expect, that the object carries for `<name>_selftest` (rlx_selftest in rlx_internal.h).
struct Selftest {
  std::vector<std::byte> data;  ///< empty: no self-test
  uint64_t arena_bytes = 0;     ///< that it asks for
};

/// Hooks of the context that surround every call of a kernel.
struct Hooks {
  bool trace = false;  ///< called when the kernel begins and ends
  bool poll = false;   ///< asked before it whether to go on

  /// Whether a call with this tir::Invoke::trace_node has any.
  bool at(int32_t trace_node) const { return trace_node >= 0 && (trace || poll); }
};

/// Everything a backend needs.
struct Object {
  std::string name;                             ///< prefix of every global symbol
  std::string producer;                         ///< "relaxc 0.1.0"
  std::array<uint8_t, 32> hash{};               ///< of input, flags, compiler
  std::array<uint8_t, 8> interface_hash{};      ///< of what the header promises: names, dtypes, dims, symbols
  std::vector<const tir::PrimFunc*> functions;  ///< callees before callers; fixed order
  std::vector<Entry> entries;
  std::vector<PublicPrimFunc> public_prim_funcs;
  std::vector<External> externals;
  bool prints = false;  ///< refers to rlx_print
  Hooks hooks;
  std::string arena_name;  ///< that --pool gives the arena; empty: none
  Weights weights;
  Selftest selftest;
};

/// The C identifier of a name from a model: letters, digits and single underscores stay; any other byte becomes
/// `_xHH_`; a leading digit and C keywords get a prefix. Injective and independent of all other names (docs/abi.md).
std::string identifier(std::string_view name);

}  // namespace relaxc::interface
