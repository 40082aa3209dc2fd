// term.h: what an expression of a Relax function stands for while it is read.
//
// Text mixes values of the graph with what only exists while it is read: numbers, tuples of dims, names of functions. A
// term becomes a value of the graph when something wants one, and then it is known what it should be: `(n, 4)` is a
// shape for reshape and a tuple for return.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/graph.h"
#include "frontends/relax/scalars/scalar.h"

namespace relaxc::frontend {

struct Term {
  enum Kind : uint8_t {
    kPoison,    ///< its error was reported
    kNone,      ///< None
    kValue,     ///< of the graph
    kScalar,    ///< a dim, a number, a bool
    kString,    ///< text
    kSequence,  ///< a tuple or list of terms; the results of an op that has several
    kModule,    ///< the class, or `cls`
    kGlobal,    ///< a function of the module
    kSelf,      ///< the nested function that is being read
    kExternal,  ///< an external function
  };
  Kind kind = kPoison;
  relax::Value* value = nullptr;
  Scalar scalar;
  std::string text;
  std::vector<Term> items;

  static Term of(relax::Value* value) { return {kValue, value, {}, {}, {}}; }
  static Term of(Scalar scalar) { return {kScalar, nullptr, scalar, {}, {}}; }
  static Term of(Kind kind, std::string text = {}) { return {kind, nullptr, {}, std::move(text), {}}; }
  static Term of_dims(const std::vector<arith::Expr>& dims) {
    std::vector<Term> items;
    for (arith::Expr dim : dims) items.push_back(of(Scalar{dim}));
    return sequence(std::move(items));
  }
  static Term sequence(std::vector<Term> items) { return {kSequence, nullptr, {}, {}, std::move(items)}; }

  bool is_dims() const {
    if (kind != kSequence) return false;
    for (const Term& item : items)
      if (item.kind != kScalar || item.scalar.literal == Scalar::kReal || !is_dim(item.scalar)) return false;
    return true;
  }

 private:
  static bool is_dim(const Scalar& scalar) {
    return scalar.expr.dtype().is_index() || scalar.literal == Scalar::kDimLiteral;
  }
};

/// A tuple of R.prim_value(…), as TVM prints the bounds of a slice, as the list of dims that it is to an operator.
Term with_dims(const Term& term);

/// `x` of `x.struct_info` and `x.ty`; anything else is itself.
inline const ast::Expr& without_type(const ast::Expr& e) {
  bool type = e.is(ast::ExprKind::kAttribute) && (e.text == "struct_info" || e.text == "ty");
  return type ? *e.items[0] : e;
}

}  // namespace relaxc::frontend
