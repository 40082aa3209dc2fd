// host_control.cpp: branches.
//
// Branches whose results differ in shape write into one memory, large enough for both, and leave the dims that the
// taken branch had in a small buffer, from which the code after the If binds its symbols. A result that has no bound
// in one of them is claimed by the branch that makes it.
#include <algorithm>
#include <utility>

#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

/// Of the elements of each result and the values of each symbol, over the branches seen so far; null: none.
struct HostFunction::Bounds {
  std::vector<Expr> sizes, numbers;

  static void widen(std::vector<Expr>& list, std::vector<Expr> more) {
    for (size_t i = 0; i < list.size(); ++i) more[i] = list[i] && more[i] ? arith::max(list[i], more[i]) : Expr();
    list = std::move(more);
  }
  void add(HostFunction& host, const Op& op, const Region& region) {
    std::vector<Expr> here(op.results.size()), values(op.binds.size());
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (op.results[i]->info->as<TensorInfo>() == nullptr) continue;
      here[i] = host.symbols_.bounded(host.shapes_.product_of(host.shapes_.dims(region.results()[i]->info)));
    }
    for (size_t k = 0; k < op.binds.size(); ++k)
      if (op.binds[k].dtype().is_index())
        values[k] = host.symbols_.bounded(host.joined_number(op, region, op.binds[k]));
    widen(sizes, std::move(here));
    widen(numbers, std::move(values));
  }
};

/// Results that are made in `region` are written to `targets` (null: none) at once, if they can be; says which. A
/// target whose size nobody knows yet may become a block of the heap, which is claimed where it is seen: by one kernel
/// alone.
std::vector<bool> HostFunction::tell_targets(const Region& region, const std::vector<BufferRef>& targets) {
  const std::vector<Value*>& results = region.results();
  std::vector<bool> told(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (targets[i] == nullptr || results[i] == nullptr) continue;
    const Op* producer = can_write(*results[i], region);
    bool one_kernel = producer == results[i]->op && producer != nullptr && producer->kind == OpKind::kCallTir;
    told[i] = producer != nullptr && (one_kernel || symbols_.of_entry(targets[i]->shape));
    if (told[i]) promise(*results[i], targets[i]);
  }
  return told;
}

/// One region as a statement; its results go to `targets` (each a memory of any layout), the numbers that it gives the
/// If's symbols to `cells`.
Status HostFunction::lower_branch(const Op& op, const Region& region, const std::vector<BufferRef>& targets,
                                  const Cells& cells, Expr holds, tir::Stmt& body, Bounds& bounds) {
  Diagnostics& diag = this->diag();
  InsertionPoint::Nested inside(at_, 1);
  Symbols::Mark before = symbols_.mark();
  symbols_.assume(holds, false);
  const std::vector<Value*>& results = region.results();
  std::vector<bool> told = tell_targets(region, targets);
  Status done = lower_region(region);
  if (done) {
    for (size_t i = 0; i < results.size(); ++i)
      if (!told[i] && targets[i] != nullptr)
        memory_.copy(values_.buffer(*results[i]),
                     memory_.seen_as(targets[i], results[i]->name, shapes_.dims(results[i]->info)));
    for (size_t k = 0; k < op.binds.size(); ++k) at_.add(set_cell(cells, k, joined_number(op, region, op.binds[k])));
    body = inside.finish();
    bounds.add(*this, op, region);
  }
  symbols_.leave(std::move(before), true);
  if (!done) return diag.failed();
  return Done{};
}

/// What `symbol`, which the If binds, is at the end of `region`.
Expr HostFunction::joined_number(const Op& op, const Region& region, Var symbol) {
  for (size_t i = 0; i < op.results.size(); ++i) {
    const Value& given = *region.results()[i];
    std::vector<Expr> joined = numbers(op.results[i]->info);
    for (size_t k = 0; k < joined.size(); ++k)
      if (joined[k] == symbol)
        return given.info->as<PrimInfo>() != nullptr ? values_.scalar(given)
                                                     : symbols_.known(numbers(given.info)).at(k);
  }
  RELAXC_UNREACHABLE("a symbol of an If is no number of its results");
}

/// Memory for the values of `symbols`: the indices among them share a vector, any other has a place of its own.
HostFunction::Cells HostFunction::make_cells(const std::string& name, const std::vector<Var>& symbols, size_t more) {
  Cells cells;
  size_t count = 0;
  for (Var symbol : symbols) {
    bool index = symbol.dtype().is_index();
    cells.places.push_back(
        {index ? nullptr
               : build_.buffer(name, symbol.dtype(), {build_.index(1)}, tir::Scope::kGlobal, WeightLayout::kAlignment),
         index ? count : 0});
    count += index;
  }
  for (size_t i = 0; i < more; ++i) cells.places.push_back({nullptr, count++});
  if (count > 0)
    cells.indices = build_.buffer(name, DType::i(64), {build_.index(static_cast<int64_t>(count))}, tir::Scope::kGlobal,
                                  WeightLayout::kAlignment);
  return cells;
}

void HostFunction::alloc_cells(const Cells& cells) {
  if (cells.indices != nullptr) at_.alloc(cells.indices);
  for (const auto& [own, at] : cells.places)
    if (own != nullptr) at_.alloc(own);
}

Expr HostFunction::cell(const Cells& cells, size_t k) {
  const auto& [own, at] = cells.places.at(k);
  Expr value = build_.load(own == nullptr ? cells.indices : own, {build_.index(static_cast<int64_t>(at))});
  return own == nullptr ? arith::cast(DType::index(), value) : value;
}

tir::Stmt HostFunction::set_cell(const Cells& cells, size_t k, Expr value) {
  const auto& [own, at] = cells.places.at(k);
  BufferRef memory = own == nullptr ? cells.indices : own;
  return build_.store(memory, {build_.index(static_cast<int64_t>(at))}, arith::cast(memory->dtype, value));
}

/// Whether `symbol` is a tensor's dim among the results, and so not negative.
bool HostFunction::is_extent(const Op& op, Var symbol) {
  for (const Value* result : op.results)
    if (const auto* tensor = result->info->as<TensorInfo>())
      if (std::find(tensor->shape->begin(), tensor->shape->end(), symbol) != tensor->shape->end()) return true;
  return false;
}

Status HostFunction::lower_if(Op& op) {
  Diagnostics& diag = this->diag();
  RELAXC_CHECK(op.regions.size() == 2, "an If has two regions");
  for (Value* result : op.results)
    if (result->info->as<TensorInfo>() == nullptr && numbers(result->info).empty() &&
        result->info->as<ShapeInfo>() == nullptr)
      return diag.error(op.location, Kind::unsupported, "branches that give {}, which has no memory of its own",
                        to_string(result->info));
  Expr condition = values_.truth(*op.operand(0));

  // Bytes are reserved by bounds of both branches, which only their own symbols know; so branches come first.
  std::vector<BufferRef> targets;
  Cells cells = make_cells("joined", op.binds, 0);
  for (Value* result : op.results) {
    if (result->info->as<TensorInfo>() == nullptr) {
      targets.push_back(nullptr);
      continue;
    }
    auto chosen = destinations_.find(result);
    std::vector<Expr> shape = shapes_.dims(result->info);
    bool known = symbols_.of_entry(shape);
    if (!known) shape = {context().var("room")};
    BufferRef room = build_.buffer(known ? result->name : result->name + "_room", result->dtype(), shape,
                                   tir::Scope::kGlobal, WeightLayout::kAlignment);
    targets.push_back(chosen == destinations_.end() ? room : chosen->second);
  }
  tir::Stmt bodies[2];
  Bounds bounds;
  bool failed = false;
  for (size_t branch = 0; branch < 2 && !failed; ++branch) {
    Expr holds = branch == 0 ? condition : arith::logical_not(condition);
    failed = !lower_branch(op, *op.regions[branch], targets, cells, holds, bodies[branch], bounds);
  }
  if (failed) return diag.failed();

  alloc_cells(cells);
  std::map<BufferRef, BufferRef> rooms;
  std::vector<BufferRef> blocks(op.results.size());
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (targets[i] == nullptr || destinations_.count(op.results[i]) != 0) continue;
    if (symbols_.of_entry(targets[i]->shape)) {
      at_.alloc(targets[i]);
      continue;
    }
    if (!bounds.sizes[i]) {
      blocks[i] = heap_.empty_block(op.results[i]->name);
      for (tir::Stmt& body : bodies) body = heap_.claim_views(body, targets[i], blocks[i]);
      continue;
    }
    rooms[targets[i]] = build_.buffer(targets[i]->name, targets[i]->dtype, {bounds.sizes[i]}, tir::Scope::kGlobal,
                                      WeightLayout::kAlignment);
    targets[i] = rooms[targets[i]];
    at_.alloc(targets[i]);
  }
  tir::Rewriter rewriter;
  rewriter.on_buffer = [&](BufferRef b) { return rooms.count(b) != 0 ? rooms.at(b) : b; };
  for (tir::Stmt& body : bodies) body = tir::rewrite(context(), body, rewriter);
  at_.add(build_.branch(condition, bodies[0], bodies[1]));
  for (size_t k = 0; k < op.binds.size(); ++k)
    shapes_.bind_from_data(op.binds[k], cell(cells, k), bounds.numbers[k], is_extent(op, op.binds[k]));
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (targets[i] == nullptr) continue;
    const Value& result = *op.results[i];
    values_.slot(result).buffer =
        blocks[i] != nullptr ? heap_.own_block(blocks[i], result.name, result.dtype(), shapes_.dims(result.info))
                             : memory_.seen_as(targets[i], result.name, shapes_.dims(result.info));
  }
  return Done{};
}

}  // namespace relaxc::lower
