// evaluator.h: runs TIR on this machine, interpreted or compiled.
//
// The interpreter is the oracle of every test; the JIT in codegen/llvm computes the same bits, faster. Constant folding
// and the tests use only this interface.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// The result of a run: code 0, or the code and error record of the guard that failed.
struct RunStatus {
  int32_t code = 0;
  int32_t tensor = -1, axis = -1, symbol = -1, node = -1;
  int64_t expected = 0, actual = 0;
  explicit operator bool() const { return code == 0; }
};

/// Finds the prim func that an Invoke names; null if the module has none.
using FindFunction = std::function<const PrimFunc*(const std::string& name)>;
/// A result whose size an external function decides: it reads the expected dtype and rank and sets shape and bytes.
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
  ExternalResult* result = nullptr;  ///< receives such a result; the other fields have no meaning then
};
/// Calls an external function with the addresses and shapes of the buffers and the scalars of the Invoke, in its order.
/// The last argument of a plain C function is a tensor of rank 0 that receives what the function returns. Scalars are
/// int64; a float is the bit pattern of a double.
using CallExternal = std::function<int32_t(const std::string& name, std::span<const ExternalArg> args)>;

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Runs `function`. `buffers` are the addresses of its buffer parameters in order; `scalars` are its scalar
  /// parameters and then its symbols, each as int64 (a float as the bit pattern of a double).
  virtual RunStatus run(const PrimFunc& function, std::span<void* const> buffers, std::span<const int64_t> scalars) = 0;
};

/// Makes an interpreter, which compiles programs to flat code and keeps that per PrimFunc body. With `check_bounds`, an
/// access outside of a buffer whose shape is known is an internal error.
std::unique_ptr<Evaluator> make_interpreter(FindFunction find = {}, CallExternal external = {},
                                            bool check_bounds = true);

}  // namespace relaxc::tir
