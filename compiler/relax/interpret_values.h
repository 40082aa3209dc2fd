// interpret_values.h: the values and symbols of one call of a function, and the fault if it failed.
//
// A call has one environment of symbols; an op that binds symbols overwrites them, so loop bodies need no scopes of
// their own.
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

  /// Starts a call of `function`: forgets all values and sets its parameters; false if an input does not match.
  bool begin(const Function& function, const Parts& inputs);

  const Parts& of(const Value* value) const;
  /// Returns the leaves of several values, in order.
  Parts of_all(const std::vector<Value*>& values, size_t first = 0) const;
  bool flag(const Value* value) const { return decode_integer(of(value)[0]->dtype, of(value)[0]->bytes.data()); }
  void set(const Value* value, Parts parts) { values_[value] = std::move(parts); }
  /// Sets the results of an op to their leaves, and binds its symbols.
  bool set_results(const Op& op, const Parts& all);
  /// Checks the symbols that `op` binds against the bounds that the function declares; records a fault if one fails.
  bool hold_declared(const Op& op);
  /// Makes a tensor of zeros; records a fault that names `what` if its size is invalid.
  bool allocate(DType dtype, const std::vector<Expr>& shape, std::shared_ptr<HostTensor>& out, const std::string& what);

  SymbolValues& symbols() { return symbols_; }

  /// Records why the call failed; returns false.
  bool fail(int32_t code, std::string text, int64_t expected = 0, int64_t actual = 0) {
    return fail_with(fault_, code, std::move(text), expected, actual);
  }
  bool fail(RunFault fault) {
    fault_ = std::move(fault);
    return false;
  }
  const RunFault& fault() const { return fault_; }

 private:
  const Function* function_ = nullptr;  ///< the function whose body runs
  std::unordered_map<const Value*, Parts> values_;
  RunFault fault_;
  SymbolValues symbols_;
};

}  // namespace relaxc::relax::interpreter
