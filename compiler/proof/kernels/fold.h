// fold.h: evaluates instructions whose operands are all known, as the interpreter does.
#pragma once

#include <optional>

#include "compiler/proof/kernels/term.h"
#include "compiler/tir/interpreter_code.h"

namespace relaxc::proof {

class Algebra;

/// The operands of an instruction: integers, floats or doubles; or it converts between these.
enum class OperandKind : uint8_t { kWhole, kSingle, kDouble, kConversion };
OperandKind operand_kind(tir::interpreter::Op op);
bool is_unary(tir::interpreter::Op op);
bool is_ternary(tir::interpreter::Op op);

/// Returns the result of an instruction whose operands and result are integers or bools, for known operands. If it has
/// one operand, that is `a`.
int64_t result_of_numbers(const tir::interpreter::Instruction& n, int64_t a, int64_t b);

/// Returns the result if all operands are known, else nothing. For operands that the instruction lacks, pass `a`.
std::optional<Term> folded(const Algebra& algebra, const tir::interpreter::Instruction& n, const Term& a, const Term& b,
                           const Term& c);

}  // namespace relaxc::proof
