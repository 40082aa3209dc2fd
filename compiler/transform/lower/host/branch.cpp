// branch.cpp: Ifs.
//
// Branches whose results differ in shape write to one buffer, large enough for both, and store the dims of the branch
// that was taken in a small buffer, from which the code after the If binds its symbols. A result that has no bound in
// one of the branches is claimed from the heap by the branch that computes it.
#include <algorithm>
#include <map>

#include "compiler/relax/name_dims.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host/cells.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// Returns whether `symbol` is a dim of a tensor among the results, and so not negative.
bool is_extent(const Op& op, Var symbol) {
  for (const Value* result : op.results)
    if (const auto* tensor = result->info->as<TensorInfo>())
      if (std::find(tensor->shape->begin(), tensor->shape->end(), symbol) != tensor->shape->end()) return true;
  return false;
}

class IfLowering {
 public:
  IfLowering(HostLowering& host, const Op& op)
      : host_(host),
        op_(op),
        at_(host.at),
        shapes_(host.shapes),
        symbols_(host.shapes.symbols()),
        cells_(host.at, "joined", op.binds, 0) {}

  Status run();

 private:
  void make_targets();
  Status lower_branch(const Region& region, Expr holds, tir::Stmt& body);
  void add_bounds(const Region& region);
  void widen(std::vector<Expr>& list, std::vector<Expr> more) const;
  Expr larger(Expr a, Expr b) const;
  Expr joined_number(const Region& region, Var symbol);
  void reserve_targets(tir::Stmt (&bodies)[2]);
  void bind_results();

  HostLowering& host_;
  const Op& op_;
  InsertionPoint& at_;
  ShapeProgram& shapes_;
  Symbols& symbols_;
  Cells cells_;                     ///< memory for the values of the If's symbols
  std::vector<BufferRef> targets_;  ///< the memory that results are written to; null: the result is no tensor
  std::vector<BufferRef> blocks_;   ///< the heap blocks that replace targets whose size has no bound
  std::vector<Expr> sizes_;         ///< bound of each result's elements over the branches seen so far; null: no bound
  std::vector<Expr> numbers_;       ///< bound of each symbol's value over the same branches; null: no bound
};

/// Lowers the branches first: memory is reserved by the bounds of both, and only their own symbols give these.
Status IfLowering::run() {
  RELAXC_CHECK(op_.regions.size() == 2, "an If has two regions");
  for (Value* result : op_.results)
    if (result->info->as<TensorInfo>() == nullptr && numbers(result->info).empty() &&
        result->info->as<ShapeInfo>() == nullptr)
      return host_.diag().error(op_.location, Kind::unsupported,
                                "branches that give {}, which has no memory of its own", to_string(result->info));
  Expr condition = host_.values.truth(*op_.operand(0));
  make_targets();
  tir::Stmt bodies[2];
  RELAXC_DO(lower_branch(*op_.regions[0], condition, bodies[0]));
  RELAXC_DO(lower_branch(*op_.regions[1], arith::logical_not(condition), bodies[1]));
  cells_.alloc();
  reserve_targets(bodies);
  at_.add(at_.build().branch(condition, bodies[0], bodies[1]));
  bind_results();
  return Done{};
}

void IfLowering::make_targets() {
  for (Value* result : op_.results) {
    if (result->info->as<TensorInfo>() == nullptr) {
      targets_.push_back(nullptr);
      continue;
    }
    std::vector<Expr> shape = shapes_.dims(result->info);
    bool known = symbols_.of_entry(shape);
    if (!known) shape = {at_.context().var("room")};
    BufferRef room = at_.arena_buffer(known ? result->name : result->name + "_room", result->dtype(), shape);
    BufferRef chosen = host_.destinations.of(*result);
    targets_.push_back(chosen == nullptr ? room : chosen);
  }
}

/// Lowers one region to a statement. It writes the results to the targets, whose layout does not matter, and the values
/// of the If's symbols to the cells.
Status IfLowering::lower_branch(const Region& region, Expr holds, tir::Stmt& body) {
  InsertionPoint::Nested inside(at_, 1);
  Symbols::Scope known(symbols_, true);
  symbols_.assume(holds, false);
  const std::vector<Value*>& results = region.results();
  std::vector<bool> assigned = host_.destinations.assign_targets(region, targets_);
  RELAXC_DO(lower_region(host_, region));
  for (size_t i = 0; i < results.size(); ++i) {
    if (assigned[i] || targets_[i] == nullptr) continue;
    BufferRef from = host_.values.buffer(*results[i]);
    host_.memory.copy(from, host_.destinations.view_of(targets_[i], results[i]->name, shapes_.dims(results[i]->info)));
  }
  for (size_t k = 0; k < op_.binds.size(); ++k) at_.add(cells_.set(k, joined_number(region, op_.binds[k])));
  body = inside.finish();
  add_bounds(region);
  return Done{};
}

void IfLowering::add_bounds(const Region& region) {
  std::vector<Expr> sizes(op_.results.size()), values(op_.binds.size());
  for (size_t i = 0; i < op_.results.size(); ++i) {
    if (op_.results[i]->info->as<TensorInfo>() == nullptr) continue;
    sizes[i] = symbols_.bounded(shapes_.product_of(shapes_.dims(region.results()[i]->info)));
  }
  for (size_t k = 0; k < op_.binds.size(); ++k)
    if (op_.binds[k].dtype().is_index()) values[k] = symbols_.bounded(joined_number(region, op_.binds[k]));
  widen(sizes_, std::move(sizes));
  widen(numbers_, std::move(values));
}

/// Replaces each element by the larger one of both lists; by null if either element is null.
void IfLowering::widen(std::vector<Expr>& list, std::vector<Expr> more) const {
  for (size_t i = 0; i < list.size(); ++i) more[i] = list[i] && more[i] ? larger(list[i], more[i]) : Expr();
  list = std::move(more);
}

/// Returns the larger one of two bounds. A maximum of maxima would grow with each If, so it is one of the two if the
/// entry's facts prove that, and a large one has what both have in common outside of it.
Expr IfLowering::larger(Expr a, Expr b) const {
  if (symbols_.proves(arith::le(a, b), true)) return b;
  if (symbols_.proves(arith::le(b, a), true)) return a;
  const Expr most = arith::max(a, b);
  if (!is_large_dim(most)) return most;
  const Expr more = symbols_.simplified(b - a);
  return is_large_dim(more) ? most : symbols_.simplified(a + arith::max(more, at_.build().index(0)));
}

/// Returns the value at the end of `region` of `symbol`, which the If binds.
Expr IfLowering::joined_number(const Region& region, Var symbol) {
  for (size_t i = 0; i < op_.results.size(); ++i) {
    const Value& given = *region.results()[i];
    std::vector<Expr> joined = numbers(op_.results[i]->info);
    for (size_t k = 0; k < joined.size(); ++k)
      if (joined[k] == symbol)
        return given.info->as<PrimInfo>() != nullptr ? host_.values.scalar(given)
                                                     : symbols_.known(numbers(given.info)).at(k);
  }
  RELAXC_UNREACHABLE("a symbol of an If is not a number of its results");
}

/// Allocates the targets: by their dims if these are known at entry, else by the bound, or as heap blocks without one.
void IfLowering::reserve_targets(tir::Stmt (&bodies)[2]) {
  std::map<BufferRef, BufferRef> rooms;
  blocks_.resize(op_.results.size());
  for (size_t i = 0; i < op_.results.size(); ++i) {
    if (targets_[i] == nullptr || host_.destinations.of(*op_.results[i]) != nullptr) continue;
    if (symbols_.of_entry(targets_[i]->shape)) {
      at_.alloc(targets_[i]);
      continue;
    }
    if (!sizes_[i]) {
      blocks_[i] = host_.heap.empty_block(op_.results[i]->name);
      for (tir::Stmt& body : bodies) body = host_.heap.claim_views(body, targets_[i], blocks_[i]);
      continue;
    }
    BufferRef room = at_.alloc(targets_[i]->name, targets_[i]->dtype, {sizes_[i]});
    rooms[targets_[i]] = room;
    targets_[i] = room;
  }
  tir::Rewriter rewriter;
  rewriter.on_buffer = [&](BufferRef b) { return rooms.count(b) != 0 ? rooms.at(b) : b; };
  for (tir::Stmt& body : bodies) body = tir::rewrite(at_.context(), body, rewriter);
}

void IfLowering::bind_results() {
  for (size_t k = 0; k < op_.binds.size(); ++k)
    shapes_.bind_from_data(op_.binds[k], cells_.get(k), numbers_[k], is_extent(op_, op_.binds[k]));
  for (size_t i = 0; i < op_.results.size(); ++i) {
    if (targets_[i] == nullptr) continue;
    const Value& result = *op_.results[i];
    std::vector<Expr> shape = shapes_.dims(result.info);
    host_.values.slot(result).buffer = blocks_[i] != nullptr
                                           ? host_.heap.own_block(blocks_[i], result.name, result.dtype(), shape)
                                           : host_.memory.view_of_output(targets_[i], result.name, shape);
  }
}

}  // namespace

Status lower_if(HostLowering& host, Op& op) {
  return IfLowering(host, op).run();
}

}  // namespace relaxc::lower
