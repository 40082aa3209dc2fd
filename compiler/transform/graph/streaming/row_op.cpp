// row_op.cpp: how operators compute rows, from their attributes if these count rows, and else from their definition.
//
// Any operator whose definition maps elements, as analysis/pattern.h reads it, is a map; so quantization and
// activations need no list. Sums are split where they are of integers, since those add up to the same bits in any
// order.
#include "compiler/transform/graph/streaming/row_op.h"

#include <algorithm>

#include "compiler/analysis/pattern.h"

namespace relaxc::streaming {

using namespace relax;

namespace {

bool is_tensor(const Value* value) {
  return value != nullptr && value->info->as<TensorInfo>() != nullptr;
}

bool has_known_dims(const Value& value) {
  const auto* tensor = value.info->as<TensorInfo>();
  return tensor != nullptr && tensor->shape && tensor->dtype &&
         std::all_of(tensor->shape->begin(), tensor->shape->end(), [](Expr dim) { return dim.constant() != nullptr; });
}

int64_t extent(const Value& value, size_t axis) {
  return *value.shape().at(axis).constant();
}

/// Returns number `at` of a list that has one for each dim, one for all dims, or none (`fallback`).
int64_t listed(const std::vector<int64_t>& list, size_t at, int64_t fallback) {
  return list.empty() ? fallback : list.size() == 1 ? list[0] : list.at(at);
}

/// Returns a read of the same rows of each operand with rows; nothing if one has neither all rows nor one for all.
std::optional<std::vector<RowRead>> aligned_reads(const Op& op, int64_t rows) {
  std::vector<RowRead> reads;
  const size_t rank = op.result()->shape().size();
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const Value* operand = op.operand(i);
    if (operand == nullptr) continue;
    if (!is_tensor(operand) || !has_known_dims(*operand)) return std::nullopt;
    const size_t own = operand->shape().size();
    if (own + kRowAxis < rank) continue;  // no row axis: the same for all rows
    const int64_t dim = extent(*operand, own + kRowAxis - rank);
    if (dim == 1) continue;
    if (dim != rows || own != rank || extent(*operand, 0) != 1) return std::nullopt;
    reads.push_back({.operand = i});
  }
  return reads;
}

std::optional<RowOp> map_of(arith::Context& context, Op& op) {
  if (op.def->define == nullptr || op.def->role != Role::kKernel) return std::nullopt;
  RowOp found{&op, RowOp::kMap, rows_of(*op.result()), {}};
  auto reads = aligned_reads(op, found.rows);
  if (!reads || reads->empty()) return std::nullopt;
  const tir::PrimFunc function = define_op(context, op, "asked");
  const analysis::KernelShape shape = analysis::classify(function);
  if (!shape.spatial() || !analysis::maps_elements(shape.nest)) return std::nullopt;
  found.reads = std::move(*reads);
  return found;
}

/// Returns a product by rows, which are those of its left operand if the right one is a matrix.
std::optional<RowOp> matmul_of(Op& op) {
  const Value &left = *op.operand(0), &right = *op.operand(1);
  if (rows_of(left) != rows_of(*op.result()) || !has_known_dims(right) || right.shape().size() != 2)
    return std::nullopt;
  return RowOp{&op, RowOp::kWindow, rows_of(*op.result()), {{.operand = 0}}};
}

std::optional<RowOp> conv_of(Op& op) {
  const Value &data = *op.operand(0), &weight = *op.operand(1);
  if (rows_of(data) == 0 || !has_known_dims(weight)) return std::nullopt;
  RowRead read;
  read.stride = listed(op.attrs.ints("strides"), 0, 1);
  const int64_t dilation = listed(op.attrs.ints("dilation"), 0, 1), window = extent(weight, 0);
  read.reach = (window - 1) * dilation + 1;
  const int64_t rows = extent(*op.result(), kRowAxis);
  if (rows > 1) return RowOp{&op, RowOp::kWindow, rows, {read}};
  const bool whole = rows == 1 && dilation == 1 && window == rows_of(data);
  if (!whole || weight.op == nullptr || weight.op->kind != OpKind::kConstant) return std::nullopt;
  return RowOp{&op, RowOp::kAccumulate, window, {{.operand = 0}}};
}

/// Returns how a convolution or pool of [1, H, C, W] computes rows: its first window is of rows.
std::optional<RowOp> window_by_rows(Op& op) {
  const bool conv = op.is("nn.conv_by_rows");
  if (rows_of(*op.operand(0)) == 0 || (conv && !has_known_dims(*op.operand(1)))) return std::nullopt;
  if (!conv && op.attrs.flag("ceil_mode")) return std::nullopt;
  const int64_t window = conv ? extent(*op.operand(1), 2) : op.attrs.ints("pool_size").at(0);
  const std::vector<int64_t> pads = paddings_of(op);
  RowRead read;
  read.stride = listed(op.attrs.ints("strides"), 0, 1);
  read.reach = (window - 1) * listed(op.attrs.ints("dilation"), 0, 1) + 1;
  read.before = pads[0];
  const int64_t rows = rows_of(*op.result());
  // A window of padding alone would have no row to read.
  const bool fits = pads[0] < read.reach && pads[pads.size() / 2] < read.reach;
  if (!fits || read.behind(rows) > rows_of(*op.operand(0)) + pads[pads.size() / 2]) return std::nullopt;
  return RowOp{&op, RowOp::kWindow, rows, {read}};
}

/// Returns a permutation of dims by rows of its operand along another axis, or along the same.
std::optional<RowOp> permutation_of(Op& op) {
  const std::vector<int64_t>& axes = op.attrs.ints("axes");
  if (axes.size() < 3 || axes[0] != 0) return std::nullopt;
  return RowOp{
      &op, RowOp::kWindow, rows_of(*op.result()), {{.operand = 0, .axis = static_cast<size_t>(axes[kRowAxis])}}};
}

/// Returns the pads before and after the row axis; nothing if a pad of any axis is not known or negative.
std::optional<std::pair<int64_t, int64_t>> row_pads(const Op& op) {
  const auto* pads = op.operand(1)->info->as<ShapeInfo>();
  if (pads == nullptr || !pads->dims) return std::nullopt;
  for (Expr pad : *pads->dims)
    if (pad.constant() == nullptr || *pad.constant() < 0) return std::nullopt;
  const size_t rank = pads->dims->size() / 2;
  return std::pair(*pads->dims->at(kRowAxis).constant(), *pads->dims->at(rank + kRowAxis).constant());
}

std::optional<RowOp> pad_of(Op& op) {
  auto pads = row_pads(op);
  if (!pads || rows_of(*op.operand(0)) == 0) return std::nullopt;
  const bool only_columns = pads->first == 0 && pads->second == 0;
  if (!only_columns && op.attrs.string("mode") != "constant") return std::nullopt;
  return RowOp{&op, RowOp::kPad, rows_of(*op.result()), {{.operand = 0, .before = pads->first}}};
}

std::optional<RowOp> sum_of(Op& op) {
  const std::vector<int64_t>& axes = op.attrs.ints("axis");
  const Value& data = *op.operand(0);
  const auto rank = static_cast<int64_t>(data.shape().size()), axis = static_cast<int64_t>(kRowAxis);
  const bool over_rows =
      std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return (a < 0 ? a + rank : a) == axis; });
  if (!over_rows || rows_of(data) < 2 || !has_known_dims(*op.result()) || !op.result()->dtype().is_integer())
    return std::nullopt;
  return RowOp{&op, RowOp::kAccumulate, rows_of(data), {{.operand = 0}}};
}

std::optional<RowOp> concat_of(Op& op) {
  const auto rank = static_cast<int64_t>(op.result()->shape().size());
  const int64_t axis = op.attrs.integer("axis"), at = axis < 0 ? axis + rank : axis;
  if (at <= static_cast<int64_t>(kRowAxis)) return std::nullopt;
  auto reads = aligned_reads(op, rows_of(*op.result()));
  if (!reads || reads->size() != op.operands().size()) return std::nullopt;
  return RowOp{&op, RowOp::kWindow, rows_of(*op.result()), std::move(*reads)};
}

}  // namespace

int64_t rows_of(const Value& value, size_t row_axis) {
  if (!has_known_dims(value) || value.shape().size() < 3 || extent(value, 0) != 1) return 0;
  for (size_t axis = 1; axis < value.shape().size(); ++axis)
    if (extent(value, axis) == 0) return 0;
  return extent(value, row_axis);
}

int64_t row_bytes(const Value& value) {
  int64_t bytes = value.dtype().bytes();
  for (size_t axis = kRowAxis + 1; axis < value.shape().size(); ++axis) bytes *= extent(value, axis);
  return bytes;
}

Rows existing(Rows rows, const Value& value, size_t axis) {
  const int64_t all = rows_of(value, axis);
  return {std::clamp<int64_t>(rows.begin, 0, all), std::clamp<int64_t>(rows.end, 0, all)};
}

std::vector<int64_t> paddings_of(const Op& op) {
  const size_t spatial = op.result()->shape().size() - 2;
  std::vector<int64_t> pads = op.attrs.ints("padding");
  if (pads.size() <= 1) return std::vector<int64_t>(2 * spatial, pads.empty() ? 0 : pads[0]);
  if (pads.size() == spatial)
    pads.insert(pads.end(), pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  return pads;
}

std::optional<RowOp> row_op(arith::Context& context, Op& op) {
  const bool plain = op.kind == OpKind::kOperator && op.results.size() == 1 && op.def->pure && op.binds.empty() &&
                     op.requirements.empty() && is_tensor(op.result()) && has_known_dims(*op.result());
  if (!plain || op.result()->dtype().bits < 8) return std::nullopt;
  if (op.is("nn.conv_integer")) return conv_of(op);
  if (op.is("sum")) return sum_of(op);
  if (rows_of(*op.result()) < 2) return std::nullopt;
  if (op.is("matmul")) return matmul_of(op);
  if (op.def->rows_first) return window_by_rows(op);
  if (op.is("permute_dims")) return permutation_of(op);
  if (op.is("pad")) return pad_of(op);
  if (op.is("concat")) return concat_of(op);
  return map_of(context, op);
}

}  // namespace relaxc::streaming
