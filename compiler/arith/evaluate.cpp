// evaluate.cpp: evaluates index and bool expressions.
#include "compiler/arith/evaluation.h"
#include "compiler/arith/fold.h"
#include "compiler/arith/simplify.h"
#include "compiler/arith/walks.h"

namespace relaxc::arith {
std::optional<int64_t> Evaluation::of(Expr root) {
  if (auto known = values_.find(root); known != values_.end()) return known->second;
  for_each_node(
      root, [&](Expr e) { return operands_except(e, [&](Expr operand) { return values_.count(operand) != 0; }); },
      [&](Expr e) { values_[e] = from_operands(e); });
  return values_.at(root);
}

std::optional<int64_t> Evaluation::from_operands(Expr e) const {
  using Value = std::optional<int64_t>;
  auto known = [&](Expr operand) { return values_.at(operand); };
  auto exact = [](DType dtype) { return dtype.is_index() || dtype.is_bool(); };
  return visit(
      e, [&](const IntImm& n) -> Value { return n.value; },
      [&](const VarNode& n) -> Value { return exact(n.dtype) ? Value(value_of_(Var(&n))) : Value(); },
      [&](const And& n) { return known(n.a) && *known(n.a) == 0 ? known(n.a)
                                 : known(n.a)                   ? known(n.b)
                                                                : Value(); },
      [&](const Or& n) { return known(n.a) && *known(n.a) != 0 ? known(n.a)
                                : known(n.a)                   ? known(n.b)
                                                               : Value(); },
      [&](const Binary& n) {
        const bool computed = known(n.a) && known(n.b) && exact(n.a.dtype());
        return computed ? fold(n.kind, *known(n.a), *known(n.b)) : Value();
      },
      [&](const Not& n) { return known(n.a) ? Value(*known(n.a) == 0) : Value(); },
      [&](const Select& n) {
        return known(n.condition) ? known(*known(n.condition) != 0 ? n.then_value : n.else_value) : Value();
      },
      [&](const Cast& n) {
        bool whole = !n.dtype.is_float() && !n.dtype.is_complex() && known(n.value);
        return whole ? Value(wrap_to_dtype(*known(n.value), n.dtype)) : Value();
      },
      [](const FloatImm&) { return Value(); }, [](const Load&) { return Value(); }, [](const Call&) { return Value(); },
      [](const Extern&) { return Value(); });
}

std::optional<int64_t> evaluate(Expr e, const std::function<int64_t(Var)>& value_of) {
  return Evaluation(value_of).of(e);
}

}  // namespace relaxc::arith
