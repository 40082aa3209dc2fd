// interpret_values.h: the values and symbols of one call of a function, and how the call failed.
//
// Symbols have their values in an environment of the call; an op that binds symbols overwrites them, so loop bodies
// need no scopes of their own.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/relax/interpret_symbols.h"

namespace relaxc::relax::interpreter {

class FrameValues {
 public:
  FrameValues(Context& context, tir::Evaluator& evaluator) : symbols_(context, evaluator, fault_) {}
  FrameValues(const FrameValues&) = delete;
  FrameValues& operator=(const FrameValues&) = delete;

  /// The call is one of `function` now: forgets all values and gives the parameters theirs.
  bool begin(const Function& function, const Parts& inputs);

  const Parts& of(const Value* value) const;
  /// The leaves of several values, in order.
  Parts of_all(const std::vector<Value*>& values, size_t first = 0) const;
  bool flag(const Value* value) const { return decode_integer(of(value)[0]->dtype, of(value)[0]->bytes.data()); }
  void set(const Value* value, Parts parts) { values_[value] = std::move(parts); }
  /// Gives the results of an op their leaves, binding its symbols.
  bool set_results(const Op& op, const Parts& all);
  /// Data is held to what the function declares of the sizes that it decides.
  bool hold_declared(const Op& op);
  /// A tensor of this dtype for what is called `what`; its bytes are zero.
  bool allocate(DType dtype, const std::vector<Expr>& shape, std::shared_ptr<HostTensor>& out, const std::string& what);

  SymbolValues& symbols() { return symbols_; }

  /// Records why the call ends; false.
  bool fail(int32_t code, std::string text, int64_t expected = 0, int64_t actual = 0) {
    return fail_with(fault_, code, std::move(text), expected, actual);
  }
  bool fail(RunFault fault) {
    fault_ = std::move(fault);
    return false;
  }
  const RunFault& fault() const { return fault_; }

 private:
  const Function* function_ = nullptr;  ///< whose body runs
  std::unordered_map<const Value*, Parts> values_;
  RunFault fault_;
  SymbolValues symbols_;
};

}  // namespace relaxc::relax::interpreter
