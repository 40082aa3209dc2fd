// simplify.h: the canonical form of index expressions, their bounds, and what can be proved of them.
#pragma once

#include <optional>
#include <string>

#include "compiler/arith/facts.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {

/// The canonical form of `e` under `facts`: index parts become polynomials over variables and floordiv / floormod / min
/// / max / select atoms, in one stable order; other dtypes keep their arithmetic, with the index parts inside
/// (subscripts, casts) made canonical. The result has no variables but those of `e`. Equal values need not get equal
/// forms, but what it changes is exact over the integers for every assignment that satisfies `facts` and gives `e` a
/// value. Takes time linear in the distinct nodes of `e`; idempotent, unless `e` is so large that limits are met.
Expr simplify(Expr e, const Facts& facts = {});

/// A range that holds every value of an index (or bool: 0..1) expression.
Range bounds(Expr e, const Facts& facts = {});

/// A residue class that holds every value of an index expression; modulus 0 if there is only one value.
Congruence congruence(Expr e, const Facts& facts = {});
/// A positive integer that divides every value of an index expression (0 for the constant zero).
int64_t divisor(Expr e, const Facts& facts = {});

/// What the facts say of a condition: that it always holds, that it never does, or neither.
enum class Truth : uint8_t { kFalse, kTrue, kUnknown };
Truth decide(Expr condition, const Facts& facts = {});

// The provers say true only when it is certain; false means "not proved".
bool prove(Expr condition, const Facts& facts = {});
bool prove_equal(Expr a, Expr b, const Facts& facts = {});
bool prove_le(Expr a, Expr b, const Facts& facts = {});
bool prove_lt(Expr a, Expr b, const Facts& facts = {});

/// Why no values satisfy all of `facts`, as half a sentence for a message; empty if that was not found. Finds more than
/// Facts::conflict(), which looks at each fact when it is added.
std::string contradiction(const Facts& facts);

/// An expression without the variables `gone` that is >= `e` for every value that `facts` allows them; nothing if there
/// is none. The frame of a loop body becomes part of its parent's frame by this.
std::optional<Expr> upper_bound_without(Expr e, const std::vector<Var>& gone, const Facts& facts);

/// The value of `e` with every variable replaced by `value_of`; nothing on division by zero, overflow or a load. Index
/// and bool only.
std::optional<int64_t> evaluate(Expr e, const std::function<int64_t(Var)>& value_of);

/// `e` in the text IR's spelling, with as few parentheses as it needs. Variables print by name.
std::string to_string(Expr e);

}  // namespace relaxc::arith
