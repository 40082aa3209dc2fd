// interpreter_select.h: which instructions compute a node of a scalar expression whose operands are in registers.
#pragma once

#include <string>
#include <vector>

#include "compiler/arith/expr.h"
#include "compiler/tir/interpreter_guards.h"

namespace relaxc::tir::interpreter {

/// Instructions that read and write an element.
Op load_op(DType dtype);
Op store_op(DType dtype);

class Selection {
 public:
  /// `checked`: index arithmetic that overflows fails, as `guards` says. `math_calls`: as in CodeOptions.
  Selection(Assembler& code, GuardTable& guards, bool checked, bool math_calls)
      : code_(code), guards_(guards), checked_(checked), math_calls_(math_calls) {}

  /// The register of `e`, which is no variable and no load, computed at `level` from registers of its operands.
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
