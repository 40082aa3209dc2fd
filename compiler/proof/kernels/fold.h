// fold.h: instructions whose operands are all known: the interpreter's own meaning of them.
#pragma once

#include <optional>

#include "compiler/proof/kernels/term.h"
#include "compiler/tir/interpreter_code.h"

namespace relaxc::proof {

class Algebra;

/// What an instruction takes: integers, floats, doubles, or it makes one of another.
enum class OperandKind : uint8_t { kWhole, kSingle, kDouble, kConversion };
OperandKind operand_kind(tir::interpreter::Op op);
bool is_unary(tir::interpreter::Op op);
bool is_ternary(tir::interpreter::Op op);

/// The result as a number or constant, if all operands are. Operands that the instruction has not are given as `a`.
std::optional<Term> folded(const Algebra& algebra, const tir::interpreter::Instruction& n, const Term& a, const Term& b,
                           const Term& c);

}  // namespace relaxc::proof
