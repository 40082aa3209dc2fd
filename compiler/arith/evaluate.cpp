// evaluate.cpp: evaluates an index or bool expression.
#include "compiler/arith/fold.h"
#include "compiler/arith/simplify.h"

namespace relaxc::arith {
std::optional<int64_t> evaluate(Expr root, const std::function<int64_t(Var)>& value_of) {
  using Value = std::optional<int64_t>;
  std::unordered_map<Expr, Value> values;
  auto of = [&](Expr e) { return values.at(e); };
  auto exact = [](DType dtype) { return dtype.is_index() || dtype.is_bool(); };
  for_each_node(root, [&](Expr e) {
    values[e] = visit(
        e, [&](const IntImm& n) -> Value { return n.value; },
        [&](const VarNode& n) -> Value { return exact(n.dtype) ? Value(value_of(Var(&n))) : Value(); },
        [&](const And& n) { return of(n.a) && *of(n.a) == 0 ? of(n.a)
                                   : of(n.a)                ? of(n.b)
                                                            : Value(); },
        [&](const Or& n) { return of(n.a) && *of(n.a) != 0 ? of(n.a)
                                  : of(n.a)                ? of(n.b)
                                                           : Value(); },
        [&](const Binary& n) {
          bool known = of(n.a) && of(n.b) && exact(n.a.dtype());
          return known ? fold(n.kind, *of(n.a), *of(n.b)) : Value();
        },
        [&](const Not& n) { return of(n.a) ? Value(*of(n.a) == 0) : Value(); },
        [&](const Select& n) {
          return of(n.condition) ? of(*of(n.condition) != 0 ? n.then_value : n.else_value) : Value();
        },
        [&](const Cast& n) {
          bool whole = !n.dtype.is_float() && !n.dtype.is_complex() && of(n.value);
          return whole ? Value(wrap_to_dtype(*of(n.value), n.dtype)) : Value();
        },
        [](const FloatImm&) { return Value(); }, [](const Load&) { return Value(); },
        [](const Call&) { return Value(); }, [](const Extern&) { return Value(); });
  });
  return values.at(root);
}

}  // namespace relaxc::arith
