// stages.h: the kernels that fusion is expected to make of a block, and the rows that they read of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/transform/graph/streaming/row_op.h"

namespace relaxc::streaming {

/// Whether the value is a cast of a constant; kernels that read it compute the cast themselves.
bool is_cast_of_constant(const relax::Value& value);

/// Operators that are expected to become one kernel: one of any kind, and the maps after it.
struct Stage {
  /// What it reads of a value that another stage, or none, computes.
  struct Read {
    relax::Value* value = nullptr;
    int64_t stage = -1;  ///< that computes it; -1: an argument or a constant
    RowRead rows;
  };

  std::vector<relax::Op*> ops;
  std::vector<RowOp> row_ops;                      ///< how `ops` compute rows, if all rows are known
  bool streams = false;                            ///< whether it can be computed a few rows at a time
  bool accumulates = false;                        ///< whether it adds up rows, so that its result has none
  int64_t rows = 0;                                ///< of all its results; if it accumulates, of its operand
  std::vector<Read> reads;                         ///< operands that are read by rows
  std::vector<relax::Value*> wholes;               ///< operands that are not: weights, or all if it does not stream
  std::vector<relax::Value*> results;              ///< values that something else reads
  int64_t first_user = INT64_MAX, last_user = -1;  ///< stages that read a result; INT64_MAX: the function returns it
};

/// The stages of a block in an order in which they can run.
class Stages {
 public:
  Stages(arith::Context& context, const relax::Block& block);

  const std::vector<Stage>& all() const { return stages_; }
  size_t size() const { return stages_.size(); }
  const Stage& operator[](size_t i) const { return stages_[i]; }
  /// Returns the stage that computes the value; -1 if none does.
  int64_t maker(const relax::Value& value) const;
  /// Ops that can run before all others: constants, shapes and scalars without symbols, and views of what comes in.
  const std::vector<relax::Op*>& free_ops() const { return free_ops_; }

 private:
  void place(relax::Op& op);
  bool reads_across(const RowOp& op) const;
  void move_ends_back();
  bool only_ends_read(const relax::Op& op, size_t own, const std::vector<bool>& is_end) const;
  void move_to_readers(size_t at);
  std::optional<size_t> only_reader(const relax::Op& op, const std::map<const relax::Op*, size_t>& moving) const;
  int64_t bytes_between(const Stage& stage, const std::vector<size_t>& moved) const;
  void move(size_t from, size_t to, std::vector<size_t> ops);
  int64_t latest_maker(const relax::Op& op) const;
  void find_results();
  void find_reads(Stage& stage, int64_t at);

  arith::Context& context_;
  std::vector<Stage> stages_;
  std::vector<relax::Op*> free_ops_;
  std::map<const relax::Op*, int64_t> stage_of_;  // never iterated
};

}  // namespace relaxc::streaming
