// simplify.h: canonical forms and bounds of index expressions, and proofs about them.
#pragma once

#include <optional>
#include <string>

#include "compiler/arith/facts.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {

/// Returns the canonical form of `e` under `facts`: index parts become polynomials over variables and floordiv /
/// floormod / min / max / select atoms, in one stable order; other dtypes keep their arithmetic, with canonical index
/// parts inside of them (subscripts, casts). The result has no new variables. Equal values need not have equal forms,
/// but every change is exact over the integers for each assignment that satisfies `facts` and gives `e` a value. Takes
/// time linear in the distinct nodes of `e`; idempotent, unless `e` is so large that it meets a limit.
Expr simplify(Expr e, const Facts& facts = {});

/// Returns a range that contains every value of an index expression (bool: 0..1).
Range bounds(Expr e, const Facts& facts = {});

/// Returns a residue class that contains every value of an index expression; modulus 0 if there is only one value.
Congruence congruence(Expr e, const Facts& facts = {});
/// Returns a positive integer that divides every value of an index expression (0 for the constant zero).
int64_t divisor(Expr e, const Facts& facts = {});

/// Returns whether the facts imply that a condition is always true, always false, or neither.
enum class Truth : uint8_t { kFalse, kTrue, kUnknown };
Truth decide(Expr condition, const Facts& facts = {});

// Provers return true only if it is certain; false means "not proved".
bool prove(Expr condition, const Facts& facts = {});
bool prove_equal(Expr a, Expr b, const Facts& facts = {});
bool prove_le(Expr a, Expr b, const Facts& facts = {});
bool prove_lt(Expr a, Expr b, const Facts& facts = {});

/// Returns why no values satisfy all of `facts`, as half a sentence for a message; empty if none was found. Finds more
/// than Facts::conflict(), which checks each fact when it is added.
std::string contradiction(const Facts& facts);

/// Returns an expression without the variables `gone` that is >= `e` for all their values that `facts` allow; nullopt
/// if none is found. By this the frame of a loop body becomes part of its parent's frame.
std::optional<Expr> upper_bound_without(Expr e, const std::vector<Var>& gone, const Facts& facts);

/// Returns the value of `e`, an index or bool, with every variable replaced by `value_of`; nullopt on division by zero,
/// overflow or a load.
std::optional<int64_t> evaluate(Expr e, const std::function<int64_t(Var)>& value_of);

/// Returns `e` in the syntax of the text IR, with as few parentheses as needed. Variables are printed by name.
std::string to_string(Expr e);

}  // namespace relaxc::arith
