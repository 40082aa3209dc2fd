// stages.cpp: predicts which operators fuse_ops will put into one kernel.
//
// A map joins the last stage that computes one of its operands; every other op begins a stage. So a stage reads earlier
// ones only, and a value is in memory if another stage reads it. That is what fuse_ops does with convolutions and their
// requantization and with residual sums; if it fuses more, less memory is needed than is counted here.
//
// Values between two stages should be narrow: maps by which a residual sum widens its first operand, which waits for
// the second, move to the stage of the sum, so that the waiting tensor has bytes.
#include "compiler/transform/graph/streaming/stages.h"

#include <algorithm>
#include <iterator>

namespace relaxc::streaming {

using namespace relax;

namespace {

/// Returns whether the op can be moved before all others.
bool is_free(const Op& op) {
  if (op.kind == OpKind::kConstant) return true;
  if (op.results.size() == 1 && is_cast_of_constant(*op.result())) return true;
  const bool plain = (op.kind == OpKind::kShape || op.kind == OpKind::kPrim) && op.operands().empty();
  return plain && symbols_of(op.result()->info).empty();
}

}  // namespace

bool is_cast_of_constant(const Value& value) {
  const Op* op = value.op;
  return op != nullptr && op->is("astype") && op->operand(0)->op != nullptr &&
         op->operand(0)->op->kind == OpKind::kConstant;
}

Stages::Stages(arith::Context& context, const Block& block) : context_(context) {
  for (Op* op : block.ops) place(*op);
  move_ends_back();
  for (size_t i = 0; i < stages_.size(); ++i) move_to_readers(i);
  find_results();
  for (size_t i = 0; i < stages_.size(); ++i) find_reads(stages_[i], static_cast<int64_t>(i));
}

int64_t Stages::maker(const Value& value) const {
  auto found = value.op == nullptr ? stage_of_.end() : stage_of_.find(value.op);
  return found == stage_of_.end() ? -1 : found->second;
}

int64_t Stages::latest_maker(const Op& op) const {
  int64_t latest = -1;
  for (const Value* operand : op.operands())
    if (operand != nullptr) latest = std::max(latest, maker(*operand));
  return latest;
}

void Stages::place(Op& op) {
  const bool is_view_of_input = op.kind == OpKind::kOperator && op.def->role == Role::kView && latest_maker(op) < 0;
  if (is_free(op) || is_view_of_input) {
    free_ops_.push_back(&op);
    return;
  }
  std::optional<RowOp> rows = row_op(context_, op);
  if (rows && reads_across(*rows)) rows.reset();
  const int64_t latest = latest_maker(op);
  bool joins = rows && rows->kind == RowOp::kMap && latest >= 0;
  if (joins) {
    const Stage& stage = stages_[static_cast<size_t>(latest)];
    joins = stage.streams && !stage.accumulates && stage.rows == rows->rows;
  }
  if (!joins) stages_.emplace_back();
  const size_t at = joins ? static_cast<size_t>(latest) : stages_.size() - 1;
  Stage& stage = stages_[at];
  stage.ops.push_back(&op);
  stage_of_[&op] = static_cast<int64_t>(at);
  if (!rows) return;
  stage.streams = true;
  stage.accumulates = rows->kind == RowOp::kAccumulate;
  stage.rows = rows->rows;
  stage.row_ops.push_back(std::move(*rows));
}

/// Returns whether the op needs all rows of a value that a stage computes, since it counts rows along another axis.
bool Stages::reads_across(const RowOp& op) const {
  return std::any_of(op.reads.begin(), op.reads.end(), [&](const RowRead& read) {
    return read.axis != kRowAxis && maker(*op.op->operand(read.operand)) >= 0;
  });
}

/// Moves stages that do not stream, and whose results no stage reads that does, behind all others: they interrupt no
/// chain there.
void Stages::move_ends_back() {
  std::vector<bool> is_end(stages_.size());
  for (size_t at = stages_.size(); at-- > 0;)
    is_end[at] = !stages_[at].streams && std::all_of(stages_[at].ops.begin(), stages_[at].ops.end(),
                                                     [&](const Op* op) { return only_ends_read(*op, at, is_end); });
  std::vector<Stage> stages, ends;
  for (size_t at = 0; at < stages_.size(); ++at) (is_end[at] ? ends : stages).push_back(std::move(stages_[at]));
  stages_ = std::move(stages);
  std::move(ends.begin(), ends.end(), std::back_inserter(stages_));
  for (size_t at = 0; at < stages_.size(); ++at)
    for (const Op* op : stages_[at].ops) stage_of_[op] = static_cast<int64_t>(at);
}

/// Returns whether no stage but `own` and ends reads a result of the op.
bool Stages::only_ends_read(const Op& op, size_t own, const std::vector<bool>& is_end) const {
  for (const Value* result : op.results)
    for (const Use& use : result->uses()) {
      auto user = stage_of_.find(use.user);
      if (user == stage_of_.end()) continue;
      const auto at = static_cast<size_t>(user->second);
      if (at != own && !is_end[at]) return false;
    }
  return true;
}

/// Moves the last maps of a stage to the only stage that reads their results, if fewer bytes are between the two then.
void Stages::move_to_readers(size_t at) {
  const Stage& stage = stages_[at];
  std::map<const Op*, size_t> moving;  // the stage that an op moves to; looked up only
  std::map<size_t, std::vector<size_t>> groups;
  for (size_t i = stage.row_ops.size(); i-- > 1;) {
    const Op& op = *stage.row_ops[i].op;
    std::optional<size_t> reader = stage.row_ops[i].kind == RowOp::kMap ? only_reader(op, moving) : std::nullopt;
    if (!reader || *reader == at) continue;
    moving[&op] = *reader;
    groups[*reader].push_back(i);
  }
  std::vector<std::pair<size_t, std::vector<size_t>>> chosen;
  for (const auto& [reader, group] : groups) {
    size_t best = 0;
    int64_t least = INT64_MAX;
    for (size_t count = 0; count <= group.size(); ++count) {
      const int64_t bytes = bytes_between(stage, {group.begin(), group.begin() + static_cast<std::ptrdiff_t>(count)});
      if (bytes < least) best = count, least = bytes;
    }
    if (best > 0)
      chosen.emplace_back(reader,
                          std::vector<size_t>(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(best)));
  }
  if (chosen.size() == 1) move(at, chosen[0].first, chosen[0].second);
}

/// Returns the stage of all readers of `op`, counting maps that move there, if it computes maps of as many rows.
std::optional<size_t> Stages::only_reader(const Op& op, const std::map<const Op*, size_t>& moving) const {
  std::optional<size_t> reader;
  for (const Use& use : op.result()->uses()) {
    auto user = stage_of_.find(use.user);
    if (user == stage_of_.end()) return std::nullopt;
    auto moved = moving.find(use.user);
    const size_t at = moved != moving.end() ? moved->second : static_cast<size_t>(user->second);
    if (reader && *reader != at) return std::nullopt;
    reader = at;
    const Stage& stage = stages_[at];
    if (!stage.streams || stage.accumulates || stage.rows != rows_of(*op.result())) return std::nullopt;
    if (moved == moving.end() && std::none_of(stage.row_ops.begin(), stage.row_ops.end(), [&](const RowOp& one) {
          return one.op == use.user && one.kind == RowOp::kMap;
        }))
      return std::nullopt;
  }
  return reader;
}

/// Returns the bytes per row of results that are read outside of the stage once the ops `moved` are.
int64_t Stages::bytes_between(const Stage& stage, const std::vector<size_t>& moved) const {
  int64_t bytes = 0;
  auto stays = [&](const Op* op) {
    for (size_t i = 0; i < stage.row_ops.size(); ++i)
      if (stage.row_ops[i].op == op) return std::find(moved.begin(), moved.end(), i) == moved.end();
    return false;
  };
  for (const RowOp& op : stage.row_ops) {
    if (!stays(op.op)) continue;
    const Value& value = *op.op->result();
    const bool is_read =
        std::any_of(value.uses().begin(), value.uses().end(), [&](const Use& use) { return !stays(use.user); });
    if (is_read) bytes += row_bytes(value);
  }
  return bytes;
}

void Stages::move(size_t from, size_t to, std::vector<size_t> ops) {
  std::sort(ops.begin(), ops.end());
  Stage &old = stages_[from], &reader = stages_[to];
  std::vector<RowOp> moved;
  for (size_t i : ops) moved.push_back(old.row_ops[i]);
  for (const RowOp& op : moved) {
    stage_of_[op.op] = static_cast<int64_t>(to);
    std::erase_if(old.row_ops, [&](const RowOp& one) { return one.op == op.op; });
    std::erase(old.ops, op.op);
  }
  reader.row_ops.insert(reader.row_ops.begin(), moved.begin(), moved.end());
  reader.ops.clear();
  for (const RowOp& op : reader.row_ops) reader.ops.push_back(op.op);
}

void Stages::find_results() {
  for (size_t i = 0; i < stages_.size(); ++i)
    for (Op* op : stages_[i].ops)
      for (Value* result : op->results) {
        bool outside = false;
        for (const Use& use : result->uses()) {
          auto user = stage_of_.find(use.user);
          const int64_t at = user == stage_of_.end() ? INT64_MAX : user->second;
          if (at == static_cast<int64_t>(i)) continue;
          outside = true;
          stages_[i].first_user = std::min(stages_[i].first_user, at);
          stages_[i].last_user = std::max(stages_[i].last_user, at);
        }
        if (outside) stages_[i].results.push_back(result);
      }
}

void Stages::find_reads(Stage& stage, int64_t at) {
  for (size_t i = 0; i < stage.ops.size(); ++i) {
    const Op& op = *stage.ops[i];
    for (size_t k = 0; k < op.operands().size(); ++k) {
      Value* operand = op.operand(k);
      if (operand == nullptr || maker(*operand) == at) continue;
      const RowRead* read = nullptr;
      if (stage.streams)
        for (const RowRead& one : stage.row_ops[i].reads)
          if (one.operand == k) read = &one;
      if (read != nullptr)
        stage.reads.push_back({operand, maker(*operand), *read});
      else
        stage.wholes.push_back(operand);
    }
  }
}

}  // namespace relaxc::streaming
