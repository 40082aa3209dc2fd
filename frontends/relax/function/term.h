// term.h: the meaning of an expression of a Relax function while it is read.
//
// The text mixes values of the graph with things that exist only in the reader: numbers, tuples of dims, names of
// functions. A term is converted to a value of the graph when its user is known, which decides its type: `(n, 4)` is a
// shape for reshape and a tuple for return.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/graph.h"
#include "frontends/relax/scalars/scalar.h"

namespace relaxc::frontend {

struct Term {
  enum Kind : uint8_t {
    kPoison,    ///< an error was reported for it
    kNone,      ///< None
    kValue,     ///< a value of the graph
    kScalar,    ///< a dim, a number, a bool
    kString,    ///< a text
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

/// Converts a tuple of R.prim_value(…), as TVM prints the bounds of a slice, to a list of dims.
Term with_dims(const Term& term);

/// Returns `x` of `x.struct_info` and `x.ty`, and any other expression as it is.
inline const ast::Expr& without_type(const ast::Expr& e) {
  bool type = e.is(ast::ExprKind::kAttribute) && (e.text == "struct_info" || e.text == "ty");
  return type ? *e.items[0] : e;
}

}  // namespace relaxc::frontend
