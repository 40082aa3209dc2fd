// row_rewriter.h: writes a chain of stages out as operators on a few rows each.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "compiler/relax/builder.h"
#include "compiler/transform/graph/streaming/row_schedule.h"

namespace relaxc::streaming {

/// Appends the operators that compute a chain to a block, run by run.
///
/// The rows of a value that are in memory are one tensor: a copy of the last rows of its previous tensor, followed by
/// the new rows, which their kernels write there, since it is a concatenation in place. Readers get slices, which are
/// views. Results that are read after the chain are such concatenations of all rows, too.
class RowRewriter {
 public:
  RowRewriter(relax::GraphBuilder& builder, const Stages& stages, Chain chain, const RowSchedule& schedule)
      : b_(builder), stages_(stages), chain_(chain), schedule_(schedule) {}

  /// Replaces uses of the chain's results after it, and detaches its operators. Fails if deduction of a type does.
  Status run();

 private:
  /// The rows of a value that are in memory.
  struct Kept {
    Rows rows;
    relax::Value* value = nullptr;
    Rows made;                      ///< those that the last run computed
    relax::Value* fresh = nullptr;  ///< these rows alone
  };
  using Made = std::map<const relax::Value*, relax::Value*>;

  Status run_stage(const Run& run);
  Status keep(const Run& run, const relax::Value& value, relax::Value* old, relax::Value* fresh);
  Result<relax::Value*> old_rows(const Run& run, const relax::Value& value);
  Result<relax::Value*> run_op(const RowOp& op, Rows rows, const Made& made);
  Result<relax::Value*> padded(const RowOp& op, Rows rows, std::vector<relax::Value*> operands, Rows wanted);
  Result<relax::Value*> accumulated(const RowOp& op, Rows rows, std::vector<relax::Value*> operands);
  Result<relax::Value*> read(relax::Value* value, Rows rows, size_t axis);
  Result<relax::Value*> slice(relax::Value* value, Rows rows, size_t axis = kRowAxis);
  Result<relax::Value*> concatenated(std::vector<relax::Value*> parts);
  relax::Value* filter_rows(const relax::Value& filter, Rows rows);
  Status replace_results();

  relax::GraphBuilder& b_;
  const Stages& stages_;
  const Chain chain_;
  const RowSchedule& schedule_;
  std::map<const relax::Value*, Kept> kept_;                                        // never iterated
  std::map<const relax::Value*, std::vector<relax::Value*>> results_;               // of all runs; never iterated
  std::map<const relax::Value*, relax::Value*> sums_;                               // never iterated
  std::map<std::tuple<uint32_t, size_t, int64_t, int64_t>, relax::Value*> slices_;  ///< by id of the value, axis, rows
  std::vector<relax::Value*> filters_;  ///< constants with some rows of filters
};

}  // namespace relaxc::streaming
