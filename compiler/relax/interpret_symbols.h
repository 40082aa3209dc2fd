// interpret_symbols.h: the values of symbols during one call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/relax/interpret_parts.h"

namespace relaxc::relax::interpreter {

/// Records a fault; returns false.
inline bool fail_with(RunFault& fault, int32_t code, std::string text, int64_t expected = 0, int64_t actual = 0) {
  fault.status.code = code;
  fault.status.expected = expected;
  fault.status.actual = actual;
  fault.text = std::move(text);
  return false;
}

/// Values of symbols: integers, or the bits of a double for floats. Functions that fail record a fault.
class SymbolValues {
 public:
  using Map = std::unordered_map<Expr, int64_t>;

  SymbolValues(Context& context, tir::Evaluator& evaluator, RunFault& fault)
      : context_(context), evaluator_(evaluator), fault_(fault) {}

  /// Returns the value of a scalar; nullopt if a variable has none or the arithmetic fails.
  std::optional<int64_t> evaluate(Expr e) const;
  bool evaluate_dims(const std::vector<Expr>& dims, std::vector<int64_t>& out, const std::string& what);
  /// Returns whether the leaves are a value of this info. A symbol without a value gets one where it is a whole dim.
  bool match(Info info, std::span<const Part> list, const std::string& what);
  bool match_dims(const std::vector<Expr>& dims, const std::vector<int64_t>& actual, const std::string& what);
  /// Gives symbols that are whole dims their values, so that n * 4 may come before n.
  void bind_bare(Info info, std::span<const Part> list);

  void set(Expr symbol, int64_t value) { values_[symbol] = value; }
  void forget(const std::vector<Var>& symbols) {
    for (Var var : symbols) values_.erase(var);
  }
  void clear() { values_.clear(); }
  const Map& all() const { return values_; }
  /// Replaces all values; returns those before.
  Map exchange(Map values) { return std::exchange(values_, std::move(values)); }

 private:
  std::optional<int64_t> evaluate_element(Expr e) const;
  void solve(Expr dim, int64_t actual);

  Context& context_;
  tir::Evaluator& evaluator_;
  RunFault& fault_;
  Map values_;
};

}  // namespace relaxc::relax::interpreter
