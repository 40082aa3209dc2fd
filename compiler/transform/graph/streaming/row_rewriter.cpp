// row_rewriter.cpp: see row_rewriter.h.
//
// A stage computes the same number of rows in nearly all of its runs, so deduplicate_kernels leaves one kernel for
// them, and one for the rest at the end. Rows of a pad that hold no data are filled.
#include "compiler/transform/graph/streaming/row_rewriter.h"

#include <algorithm>

namespace relaxc::streaming {

using namespace relax;

Status RowRewriter::run() {
  for (const Run& run : schedule_.runs()) RELAXC_DO(run_stage(run));
  return replace_results();
}

Status RowRewriter::run_stage(const Run& run) {
  const Stage& stage = stages_[run.stage];
  std::map<const Value*, Value*> old;
  for (const Value* value : stage.results)
    if (schedule_.is_read(run.stage)) {
      RELAXC_TRY(old[value], old_rows(run, *value));
    }
  Made made;
  for (const RowOp& op : stage.row_ops) {
    b_.location = op.op->location;
    RELAXC_TRY(made[op.op->result()], run_op(op, run.made, made));
  }
  if (stage.accumulates) return Done{};
  for (const Value* value : stage.results) {
    if (leaves_chain(stage, chain_)) results_[value].push_back(made.at(value));
    if (schedule_.is_read(run.stage)) RELAXC_DO(keep(run, *value, old[value], made.at(value)));
  }
  return Done{};
}

/// Returns a copy of the last rows of a value that are needed again; null if none are.
Result<Value*> RowRewriter::old_rows(const Run& run, const Value& value) {
  const Rows rows{run.first_needed, run.made.begin};
  if (rows.empty()) return nullptr;
  const Kept& kept = kept_.at(&value);
  RELAXC_TRY(Value * part, slice(kept.value, {rows.begin - kept.rows.begin, rows.end - kept.rows.begin}));
  const std::vector<Expr> none(2 * value.shape().size(), b_.context().index(0));
  return b_.call("pad", {part, b_.shape(none)}, {{"mode", std::string("constant")}});
}

Status RowRewriter::keep(const Run& run, const Value& value, Value* old, Value* fresh) {
  Kept& kept = kept_[&value];
  kept.rows = {run.first_needed, run.made.end};
  kept.made = run.made, kept.fresh = fresh;
  std::vector<Value*> parts;
  if (old != nullptr) parts.push_back(old);
  parts.push_back(fresh);
  // Also for one part: a slice of a kernel's result might become a kernel, a slice of a concatenation is a view.
  RELAXC_TRY(kept.value, concatenated(std::move(parts)));
  return Done{};
}

Result<Value*> RowRewriter::concatenated(std::vector<Value*> parts) {
  return b_.call("concat", std::move(parts), {{"axis", static_cast<int64_t>(kRowAxis)}, {"in_place", true}});
}

Result<Value*> RowRewriter::run_op(const RowOp& row_op, Rows rows, const Made& made) {
  const Op& op = *row_op.op;
  std::vector<Value*> operands = op.operands();
  Rows wanted;
  for (const RowRead& one : row_op.reads) {
    Value*& operand = operands[one.operand];
    if (auto own = made.find(operand); own != made.end()) {
      operand = own->second;
      continue;
    }
    wanted = {one.first(rows.begin), one.behind(rows.end)};
    const Rows there = existing(wanted, *operand, one.axis);
    if (there.empty()) continue;  // only rows of a pad
    RELAXC_TRY(operand, read(operand, there, one.axis));
  }
  for (Value*& operand : operands)  // operands that maps read otherwise than by rows
    if (auto own = made.find(operand); own != made.end())
      operand = own->second;
    else if (operand != nullptr && is_cast_of_constant(*operand)) {
      // Each kernel casts by itself: if several read one cast, a tensor would be made for it.
      RELAXC_TRY(operand, b_.call("astype", operand->op->operands(), operand->op->attrs));
    }
  if (row_op.kind == RowOp::kPad) return padded(row_op, rows, std::move(operands), wanted);
  if (row_op.kind == RowOp::kAccumulate) return accumulated(row_op, rows, std::move(operands));
  Attrs attrs = op.attrs;
  if (op.def->rows_first) {
    std::vector<int64_t> pads = paddings_of(op);
    pads[0] = std::max<int64_t>(0, -wanted.begin);
    pads[pads.size() / 2] = std::max<int64_t>(0, wanted.end - rows_of(*op.operand(0)));
    attrs.set("padding", std::move(pads));
  }
  return b_.call(op.def->name, std::move(operands), std::move(attrs));
}

Result<Value*> RowRewriter::padded(const RowOp& row_op, Rows rows, std::vector<Value*> operands, Rows wanted) {
  const Op& op = *row_op.op;
  const Value& data = *op.operand(0);
  if (existing(wanted, data).empty()) {
    std::vector<Expr> shape = op.result()->shape();
    shape[kRowAxis] = b_.context().index(rows.count());
    Value* value = op.operand(2) != nullptr ? op.operand(2) : b_.scalar(data.dtype(), 0);
    return b_.call("full", {b_.shape(std::move(shape)), value});
  }
  std::vector<Expr> pads = *op.operand(1)->info->as<ShapeInfo>()->dims;
  pads[kRowAxis] = b_.context().index(std::max<int64_t>(0, -wanted.begin));
  pads[pads.size() / 2 + kRowAxis] = b_.context().index(std::max<int64_t>(0, wanted.end - rows_of(data)));
  operands[1] = b_.shape(std::move(pads));
  return b_.call("pad", std::move(operands), op.attrs);
}

Result<Value*> RowRewriter::accumulated(const RowOp& row_op, Rows rows, std::vector<Value*> operands) {
  const Op& op = *row_op.op;
  if (op.is("nn.conv_integer")) operands[1] = filter_rows(*op.operand(1), rows);
  RELAXC_TRY(Value * part, b_.call(op.def->name, std::move(operands), op.attrs));
  Value*& sum = sums_[op.result()];
  if (sum == nullptr) return sum = part;
  RELAXC_TRY(sum, b_.call("add", {part, sum}));
  return sum;
}

/// Returns the part of a filter for some rows of its window; equal parts, as in filters of means, are one constant.
Value* RowRewriter::filter_rows(const Value& filter, Rows rows) {
  const ConstantData& data = *filter.op->constant;
  std::vector<int64_t> shape = data.shape();
  const int64_t row = data.byte_size() / shape[0];
  shape[0] = rows.count();
  std::vector<std::byte> bytes;
  data.with_bytes([&](std::span<const std::byte> all) {
    bytes.assign(all.begin() + rows.begin * row, all.begin() + rows.end * row);
  });
  for (Value* known : filters_)
    if (known->op->constant->shape() == shape && known->op->constant->to_vector() == bytes) return known;
  filters_.push_back(b_.constant(ConstantData::inline_bytes(data.dtype(), std::move(shape), std::move(bytes))));
  return filters_.back();
}

Result<Value*> RowRewriter::read(Value* value, Rows rows, size_t axis) {
  auto found = kept_.find(value);
  if (found == kept_.end()) return slice(value, rows, axis);
  const Kept& kept = found->second;
  if (kept.made == rows) return kept.fresh;
  RELAXC_CHECK(kept.rows.begin <= rows.begin && rows.end <= kept.rows.end, "rows that are not kept any more");
  return slice(kept.value, {rows.begin - kept.rows.begin, rows.end - kept.rows.begin});
}

Result<Value*> RowRewriter::slice(Value* value, Rows rows, size_t axis) {
  if (rows.begin == 0 && rows.end == rows_of(*value, axis)) return value;
  Value*& known = slices_[{value->id, axis, rows.begin, rows.end}];
  if (known != nullptr) return known;
  Context& context = b_.context();
  RELAXC_TRY(known, b_.call("slice_part",
                            {value, b_.shape({context.index(rows.begin)}), b_.shape({context.index(rows.count())})},
                            {{"axis", static_cast<int64_t>(axis)}}));
  return known;
}

Status RowRewriter::replace_results() {
  for (size_t i = chain_.begin; i < chain_.end; ++i)
    for (Op* op : stages_[i].ops) op->drop_operands();
  for (size_t i = chain_.begin; i < chain_.end; ++i) {
    if (!leaves_chain(stages_[i], chain_)) continue;
    for (Value* value : stages_[i].results) {
      Value* whole = nullptr;
      if (stages_[i].accumulates) {
        whole = sums_.at(stages_[i].ops[0]->result());
      } else {
        RELAXC_TRY(whole, concatenated(std::move(results_.at(value))));
      }
      whole->name = value->name;
      value->replace_all_uses_with(whole);
    }
  }
  return Done{};
}

}  // namespace relaxc::streaming
