// row_blocks.h: a kernel for one block of rows after the other.
#pragma once

#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/schedule/access.h"
#include "compiler/tir/builder.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// Nests that compute each row of the result from the same row of what lies between, cut into blocks of rows; see
/// row_blocks.cpp for when.
struct RowBlocks {
  std::vector<Stmt> before;            ///< nests over something else than rows, which come first
  std::vector<Stmt> parts;             ///< nests over the rows of one block, in the names of `around`
  std::vector<BufferRef> temporaries;  ///< of one block: what lies between the nests of `parts`

  /// The blocks: a loop over all of them around `body`, which is made of `parts`. Tasks share it where it is worth it;
  /// each has `temporaries` of its own.
  Stmt around(tir::Builder& build, Stmt body, const Target& target, std::string& trace) const;

  std::vector<arith::Var> outer;  ///< the axes outside of the rows, and the number of the block
  std::vector<Expr> extents;      ///< of those
  BufferRef whole = nullptr;      ///< the result, and the rows of it that a block writes
  BufferRef own_rows = nullptr;
  Expr offset;  ///< of those rows, in bytes
  Expr rows;    ///< of a block
};

/// The blocks of a kernel that is `parts` with `temporaries` between them: those of a whole number of rows, and what is
/// left over. None where no rows in between are needed whole.
std::vector<RowBlocks> cut_into_row_blocks(arith::Context& context, const std::vector<Stmt>& parts,
                                           const std::vector<BufferRef>& temporaries, const Target& target,
                                           const arith::Facts& facts);

}  // namespace relaxc::schedule
