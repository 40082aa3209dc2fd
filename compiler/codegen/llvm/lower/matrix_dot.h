// matrix_dot.h: lowers sums of products of two rows by two columns of eight bytes to matrix instructions.
//
// Of four lanes, lane l sums eight products of row l / 2 by column l % 2 (schedule/primitives/tile_matrix_dots.h). The
// subscripts are evaluated for each lane's number: lanes with equal subscripts share a row or a column. The words of
// two columns are adjacent in memory; the two rows may be anywhere.
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

  /// Lowers the sum; nullopt if it is not of that form or the CPU has no instruction for it.
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
