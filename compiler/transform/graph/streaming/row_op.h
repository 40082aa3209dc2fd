// row_op.h: operators as functions of rows.
//
// A tensor whose first dim is 1 is a stack of rows along its second dim, each of which is contiguous: the lines of an
// image with channels last. Most operators of a convolutional network compute a row of their result from a few rows of
// their operands. A RowOp says which, so that any range of rows can be computed on its own.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/op_def.h"

namespace relaxc::streaming {

/// The axis that rows are counted along.
constexpr size_t kRowAxis = 1;

/// The rows [begin, end).
struct Rows {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

/// How an operator reads the rows of one operand: to compute rows [a, b) of its result, it needs the operand's rows
/// from a * stride - before up to (b - 1) * stride - before + reach (exclusive), as far as these exist.
struct RowRead {
  size_t operand = 0;
  int64_t stride = 1, reach = 1, before = 0;
  size_t axis = kRowAxis;  ///< of the operand, along which these rows are; else it is read from outside of a chain

  int64_t first(int64_t row) const { return row * stride - before; }
  int64_t behind(int64_t end) const { return (end - 1) * stride - before + reach; }
};

struct RowOp {
  enum Kind : uint8_t {
    kMap,         ///< each row is computed from the same row of its operands, element by element
    kWindow,      ///< each row is computed from a window of rows, which padding of the op's own may extend
    kPad,         ///< the rows of its operand, between constant ones
    kAccumulate,  ///< one integer result of all rows, to which results of parts of the rows add up
  };
  relax::Op* op = nullptr;
  Kind kind = kMap;
  int64_t rows = 0;  ///< of its result; if it accumulates, of its operand
  std::vector<RowRead> reads;
};

/// Returns how `op` computes rows; nothing if that is unknown, if there are fewer than two, or if a dim is open.
std::optional<RowOp> row_op(arith::Context& context, relax::Op& op);

/// Returns the rows of a tensor if all its dims are known, there are at least three and the first is 1; else 0.
int64_t rows_of(const relax::Value& value, size_t axis = kRowAxis);
/// Returns the bytes of one row.
int64_t row_bytes(const relax::Value& value);
/// Returns the part of `rows` that exists in `value`.
Rows existing(Rows rows, const relax::Value& value, size_t axis = kRowAxis);
/// Returns the padding of a convolution or pool (OpDef::rows_first) for all spatial dims: all begins, then all ends.
std::vector<int64_t> paddings_of(const relax::Op& op);

}  // namespace relaxc::streaming
