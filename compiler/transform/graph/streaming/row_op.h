// row_op.h: operators as functions of rows.
//
// A tensor whose first dim is 1 is a stack of rows along its second dim, each of which is contiguous: the lines of an
// image with channels last. Most operators of a convolutional network compute a row of their result from a few rows of
// their operands. What is known of such an operator here is enough to compute any range of rows on its own.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/op_def.h"

namespace relaxc::streaming {

/// The axis whose subscript says which row an element is in.
constexpr size_t kRowAxis = 1;

/// Rows from `begin` to before `end`.
struct Rows {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

/// How an operator reads the rows of one operand: those of [a, b) of its result need rows from a * stride - before to
/// before (b - 1) * stride - before + reach, as far as there are such.
struct RowRead {
  size_t operand = 0;
  int64_t stride = 1, reach = 1, before = 0;

  int64_t first(int64_t row) const { return row * stride - before; }
  int64_t behind(int64_t end) const { return (end - 1) * stride - before + reach; }
};

struct RowOp {
  enum Kind : uint8_t {
    kMap,         ///< each row from the same row of its operands, element by element
    kWindow,      ///< each row from a window of rows; nothing is in front of the first or behind the last
    kPad,         ///< the rows of its operand and constant ones before and behind
    kAccumulate,  ///< one result of all rows, of integers: sums of parts of them add up to it
  };
  relax::Op* op = nullptr;
  Kind kind = kMap;
  int64_t rows = 0;  ///< of its result; of its operand, if it accumulates
  std::vector<RowRead> reads;
};

/// What `op` does to rows; nothing if that is not known, if it has fewer than two of them, or if a dim is open.
std::optional<RowOp> row_op(arith::Context& context, relax::Op& op);

/// The rows of a tensor, if all of its dims are known, there are at least three and the first is 1; else 0.
int64_t rows_of(const relax::Value& value);
/// The bytes of one of them.
int64_t row_bytes(const relax::Value& value);
/// `rows` as far as `value` has them.
Rows existing(Rows rows, const relax::Value& value);

}  // namespace relaxc::streaming
