// interpreter_select.h: selects the instructions of a scalar expression's node whose operands are in registers.
#pragma once

#include <string>
#include <vector>

#include "compiler/arith/expr.h"
#include "compiler/tir/interpreter_guards.h"

namespace relaxc::tir::interpreter {

/// Returns the instruction that loads or stores an element.
Op load_op(DType dtype);
Op store_op(DType dtype);

class Selection {
 public:
  /// `checked`: index arithmetic that overflows fails with a record of `guards`. `math_calls`: see CodeOptions.
  Selection(Assembler& code, GuardTable& guards, bool checked, bool math_calls)
      : code_(code), guards_(guards), checked_(checked), math_calls_(math_calls) {}

  /// Emits `e`, which is no variable and no load, at `level` from its operands' registers; returns its register.
  uint32_t select(Expr e, size_t level, const std::vector<uint32_t>& in);

 private:
  uint32_t fit(size_t level, uint32_t reg, DType dtype);
  uint32_t binary(const arith::Binary& n, size_t level, const std::vector<uint32_t>& in);
  uint32_t cast(DType from, DType to, size_t level, uint32_t in);
  uint32_t call(const arith::Call& n, size_t level, const std::vector<uint32_t>& in);
  uint32_t external(const arith::Extern& n, size_t level, const std::vector<uint32_t>& in);
  uint32_t named(const std::string& name, DType dtype, const std::vector<arith::Expr>& args, size_t level,
                 const std::vector<uint32_t>& in);
  uint32_t bitcast(DType from, DType to, size_t level, uint32_t in);

  Assembler& code_;
  GuardTable& guards_;
  bool checked_, math_calls_;
};

}  // namespace relaxc::tir::interpreter
