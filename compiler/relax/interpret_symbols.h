// interpret_symbols.h: the symbols of one call, as the interpreter runs it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/relax/interpret_parts.h"

namespace relaxc::relax::interpreter {

/// Records a fault; false.
inline bool fail_with(RunFault& fault, int32_t code, std::string text, int64_t expected = 0, int64_t actual = 0) {
  fault.status.code = code;
  fault.status.expected = expected;
  fault.status.actual = actual;
  fault.text = std::move(text);
  return false;
}

/// Values by symbol: integers, or the bits of a double for floats. Questions that fail record why in `fault`.
class SymbolValues {
 public:
  using Map = std::unordered_map<Expr, int64_t>;

  SymbolValues(Context& context, tir::Evaluator& evaluator, RunFault& fault)
      : context_(context), evaluator_(evaluator), fault_(fault) {}

  /// The value of a scalar; nothing if a variable has none or the arithmetic fails.
  std::optional<int64_t> evaluate(Expr e) const;
  bool evaluate_dims(const std::vector<Expr>& dims, std::vector<int64_t>& out, const std::string& what);
  /// Whether a value of these leaves is of this info. Symbols that have no value yet take it where they are whole dims.
  bool match(Info info, std::span<const Part> list, const std::string& what);
  bool match_dims(const std::vector<Expr>& dims, const std::vector<int64_t>& actual, const std::string& what);
  /// Symbols that are whole dims take their values, so that n * 4 may come before n.
  void bind_bare(Info info, std::span<const Part> list);

  void set(Expr symbol, int64_t value) { values_[symbol] = value; }
  void forget(const std::vector<Var>& symbols) {
    for (Var var : symbols) values_.erase(var);
  }
  void clear() { values_.clear(); }
  const Map& all() const { return values_; }
  /// Gives those before.
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
