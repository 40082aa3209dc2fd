// matrix_dot.h: sums of products of two rows by two columns of eight bytes by the instructions for them.
//
// Of four lanes, lane l sums eight products of row l / 2 by column l % 2 (schedule/primitives/tile_matrix_dots.h). The
// subscripts are looked at with each lane's number in place of the variable: which of them agree says what is a row and
// what a column. The words of two columns are side by side; two rows are anywhere.
#pragma once

#include <optional>

#include "compiler/arith/dot.h"
#include "compiler/codegen/llvm/lower/memory.h"

namespace relaxc::codegen_llvm {

class MatrixProducts {
 public:
  MatrixProducts(Frame& frame, LaneArithmetic& lanes, Bindings& bindings, BufferAddresses& addresses, Values& values,
                 Memory& memory)
      : b_(frame.builder()),
        numeric_(frame.numeric()),
        lanes_(lanes),
        bindings_(bindings),
        addresses_(addresses),
        values_(values),
        memory_(memory) {}

  /// Nothing: it is not of that form, or there is no instruction for it.
  std::optional<Lanes> sum(const arith::Binary& e);

 private:
  arith::Expr lane_variable(const arith::Dot8& dot) const;

  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  LaneArithmetic& lanes_;
  Bindings& bindings_;
  BufferAddresses& addresses_;
  Values& values_;
  Memory& memory_;
};

}  // namespace relaxc::codegen_llvm
