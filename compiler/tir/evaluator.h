// evaluator.h: running TIR on this machine, by interpretation or as compiled code.
//
// The interpreter is the oracle of every test; the JIT in codegen/llvm gives the same bits, faster. Constant folding
// and the tests speak only to this interface.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// What a run left: 0, or the code of the guard that failed with its record.
struct RunStatus {
  int32_t code = 0;
  int32_t tensor = -1, axis = -1, symbol = -1, node = -1;
  int64_t expected = 0, actual = 0;
  explicit operator bool() const { return code == 0; }
};

/// Finds what an Invoke names: a prim func of the module (null if there is none) …
using FindFunction = std::function<const PrimFunc*(const std::string& name)>;
/// A result whose size the function decides: it finds the dtype and rank that are wanted here, and makes the tensor.
struct ExternalResult {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};
struct ExternalArg {
  void* data = nullptr;
  DType dtype;
  std::vector<int64_t> shape;
  int64_t scalar = 0;
  ExternalResult* result = nullptr;  ///< the place for such a result; the other fields say nothing then
};
/// … or an external function, called with buffer addresses and scalars as the Invoke lists them and the shapes of the
/// buffers. What a plain C function returns is a tensor of rank 0, the last argument, which it fills. Scalars are
/// int64; floats: the bit pattern of a double.
using CallExternal = std::function<int32_t(const std::string& name, std::span<const ExternalArg> args)>;

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Runs `function`. `buffers`: the addresses of its buffer parameters in order; `scalars`: its scalar parameters,
  /// then its symbols, in order, each as int64 (floats: bit pattern of a double).
  virtual RunStatus run(const PrimFunc& function, std::span<void* const> buffers, std::span<const int64_t> scalars) = 0;
};

/// The interpreter. Programs are turned into flat code first and kept per PrimFunc body. Out-of-bounds accesses of a
/// buffer whose shape is known are internal errors when `check_bounds`.
std::unique_ptr<Evaluator> make_interpreter(FindFunction find = {}, CallExternal external = {},
                                            bool check_bounds = true);

}  // namespace relaxc::tir
