// fuse_ops.cpp: groups calls of prim funcs so that values stay in registers.
//
// The problem: every kernel boundary writes its result to memory and reads it back; for small operators that, and the
// call, is most of the time. The graph decides which boundaries can go.
//
// The method: post-dominators bound each group (a value may join its consumer only if every path to the exit of the
// block passes there), and the access pattern of each prim func says what may be one kernel. First, reductions take the
// element-wise ops after them as epilogue, except one that widens bytes for a sum, which joins the sum; then spatial
// ops join their consumers. An op that would be computed more often than its result has elements joins only if it is
// cheap; a transpose or a slice that leaves rows whole joins the product that reads it. At last, sums that reduce rows
// join what is computed from the same rows (a norm, a softmax and the ops before it), so that a row is read from memory
// once, and pools join convolutions whose maps are larger than a cache. Sizes are symbolic, so "same size" means
// `prove_equal`.
//
// Rejected: greedy merging of producer and consumer (splits x * sigmoid(x), may make cycles). After the relay fusor of
// TVM (Chen et al., OSDI 2018, section 3), with patterns read from the TIR instead of set by hand.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "compiler/transform/graph/fusion/fused_kernel.h"
#include "compiler/transform/graph/fusion/grouping.h"
#include "compiler/transform/passes.h"
#include "targets/isa_features.h"

namespace relaxc {

using namespace relax;
using analysis::Pattern;

namespace {

constexpr int64_t kFewRows = 32;  ///< products of no more rows read a transposed right operand in place

Expr element_count(const Value& value) {
  Expr count = value.op->block->parent->function->context().index(1);
  for (Expr dim : value.shape()) count = count * dim;
  return count;
}

}  // namespace

Changed Grouping::run() {
  collect();
  find_post_dominators();
  for (bool epilogues : {true, false})
    for (int32_t i = 0; i < count(); ++i) try_fuse(i, epilogues);
  for (int32_t i = 0; i < count(); ++i) try_rows(i);
  for (int32_t i = 0; i < count(); ++i) try_products(i);
  for (int32_t i = 0; i < count(); ++i) try_windows(i);
  return build();
}

void Grouping::collect() {
  for (Op* op : block_.ops) {
    if (op->kind != OpKind::kCallTir || op->results.size() != 1 || !op->binds.empty()) continue;
    const tir::PrimFunc* function = module_.find_prim_func(op->callee);
    Node node{op, function, analysis::classify(*function), kExit, 0, kExit, {}, false};
    index_[op] = count();
    nodes_.push_back(std::move(node));
  }
  for (Node& node : nodes_)
    for (const Use& use : node.op->result()->uses()) {
      auto found = index_.find(use.user);
      if (found == index_.end())
        node.escapes = true;
      else
        node.users.push_back(found->second);
    }
  group_.resize(nodes_.size());
  std::iota(group_.begin(), group_.end(), 0);
  size_.assign(nodes_.size(), 1);
  anchor_.resize(nodes_.size());
  rows_.resize(nodes_.size());
  for (int32_t i = 0; i < count(); ++i) {
    anchor_[i] = !nodes_[i].shape.spatial();
    if (nodes_[i].shape.pattern == Pattern::kReduction) rows_[i] = analysis::rows_of_sums(nodes_[i].shape).value_or(0);
    if (nodes_[i].shape.pattern == Pattern::kOpaque) rows_[i] = 0;
  }
}

void Grouping::find_post_dominators() {
  for (int32_t i = count(); i-- > 0;) {
    Node& node = nodes_[i];
    int32_t common = node.escapes || node.users.empty() ? kExit : node.users[0];
    for (int32_t user : node.users) common = meet(common, user);
    node.post_dominator = common;
    node.depth = depth(common) + 1;
    bool even = depth(common) - depth(jump(common)) == depth(jump(common)) - depth(jump(jump(common)));
    node.jump = even ? jump(jump(common)) : common;
  }
}

int32_t Grouping::meet(int32_t a, int32_t b) const {
  if (depth(a) < depth(b)) std::swap(a, b);
  while (depth(a) > depth(b)) a = depth(jump(a)) >= depth(b) ? jump(a) : nodes_[a].post_dominator;
  while (a != b) {
    bool far = jump(a) != jump(b);
    a = far ? jump(a) : nodes_[a].post_dominator;
    b = far ? jump(b) : nodes_[b].post_dominator;
  }
  return a;
}

int32_t Grouping::root(int32_t i) {
  while (group_[i] != i) i = group_[i] = group_[group_[i]];
  return i;
}

void Grouping::try_fuse(int32_t from, bool epilogues) {
  const Node& node = nodes_[from];
  int32_t to = node.post_dominator;
  if (to == kExit || node.shape.pattern == Pattern::kOpaque) return;
  if (epilogues != (node.shape.pattern == Pattern::kReduction)) return;
  if (!epilogues && widens_for_sum(from, to)) return;
  std::vector<int32_t> path = between(from, to);
  size_t members = size_[root(from)] + size_[root(to)] + path.size();
  if (members > most_members_ || anchors(from, path, to) > 1) return;
  std::unordered_set<Value*> carried{node.op->result()};
  for (int32_t i : path) carried.insert(nodes_[i].op->result());
  path.push_back(to);
  for (int32_t i : path)
    if (epilogues ? !is_epilogue(i, carried, *node.op->result()) : !joins(i, carried, i == to)) return;
  for (int32_t i : path) unite(from, i);
}

bool Grouping::widens_for_sum(int32_t from, int32_t to) {
  const Node& wide = nodes_[to];
  if (!anchor_[root(from)] || wide.escapes || wide.users.size() != 1 || !wide.shape.spatial()) return false;
  const DType bytes = nodes_[from].op->result()->dtype(), widened = wide.op->result()->dtype();
  const Node& reader = nodes_[wide.users[0]];
  if (bytes.bits > 8 || widened.bits <= bytes.bits || !reader.shape.single_reduction()) return false;
  return for_carried(reader, {wide.op->result()}, [&](tir::BufferRef buffer, const Value&) {
    return analysis::reads_each_once(reader.shape.nest, buffer);
  });
}

std::vector<int32_t> Grouping::between(int32_t from, int32_t to) {
  std::vector<int32_t> waiting = nodes_[from].users, found;
  std::unordered_set<int32_t> seen;
  while (!waiting.empty() && found.size() <= most_members_) {
    int32_t i = waiting.back();
    waiting.pop_back();
    if (i == to || !seen.insert(i).second) continue;
    found.push_back(i);
    waiting.insert(waiting.end(), nodes_[i].users.begin(), nodes_[i].users.end());
  }
  std::sort(found.begin(), found.end());
  return found;
}

int Grouping::anchors(int32_t from, const std::vector<int32_t>& path, int32_t to) {
  std::unordered_set<int32_t> roots{root(from), root(to)};
  for (int32_t i : path) roots.insert(root(i));
  return static_cast<int>(std::count_if(roots.begin(), roots.end(), [&](int32_t r) { return anchor_[r]; }));
}

void Grouping::unite(int32_t a, int32_t b) {
  a = root(a), b = root(b);
  if (a == b) return;
  if (a < b) std::swap(a, b);
  group_[b] = a;
  size_[a] += size_[b];
  anchor_[a] = anchor_[a] || anchor_[b];
  if (rows_[b]) rows_[a] = std::min(rows_[a].value_or(*rows_[b]), *rows_[b]);
}

bool Grouping::is_epilogue(int32_t i, const std::unordered_set<Value*>& carried, const Value& anchor) {
  const Node& node = nodes_[i];
  if (!node.shape.spatial() || !same_shape(*node.op->result(), anchor)) return false;
  return for_carried(node, carried, [&](tir::BufferRef buffer, const Value&) {
    return analysis::reads_at_own_index(node.shape.nest, buffer);
  });
}

bool Grouping::joins(int32_t i, const std::unordered_set<Value*>& carried, bool last) {
  const Node& node = nodes_[i];
  bool reduction = last && node.shape.single_reduction();
  if (!node.shape.spatial() && !reduction) return false;
  return for_carried(node, carried, [&](tir::BufferRef buffer, const Value& value) {
    if (reduction) return analysis::reads_each_once(node.shape.nest, buffer) || reads_through(node, buffer, value);
    const arith::Expr made = element_count(*node.op->result());
    if (arith::prove_equal(element_count(value), made, facts_)) return true;
    const int32_t producer = index_.at(value.op);
    return analysis::cheap(nodes_[producer].shape.nest.store->value) && !narrows_sums(producer);
  });
}

bool Grouping::narrows_sums(int32_t i) {
  const int32_t bits = nodes_[i].op->result()->dtype().bits;
  // With vectors, a second loop costs less than a kernel, unless work on a sum follows it in the same loops.
  if (target_.vector_bits != 0 && !has_multiply_accumulate_across_vector(target_)) return false;
  for (int32_t other = 0; other < i && anchor_[root(i)]; ++other)
    if (root(other) == root(i) && !nodes_[other].shape.spatial() && nodes_[other].op->result()->dtype().bits > bits)
      return true;
  return false;
}

bool Grouping::reads_through(const Node& node, tir::BufferRef buffer, const Value& value) {
  int32_t i = index_.at(value.op);
  const analysis::Nest& move = nodes_[i].shape.nest;
  if (size_[root(i)] != 1) return false;
  if (analysis::picks_rows(move)) return analysis::reads_along_wide_axes(node.shape.nest, buffer);
  if (!analysis::permutes(move) || !analysis::reads_along_axes(node.shape.nest, buffer)) return false;
  if (analysis::keeps_last_axis(move)) return true;
  std::optional<int64_t> rows = analysis::readers_of_each(node.shape.nest, buffer);
  return rows && *rows <= kFewRows && value.dtype().is_float();
}

bool Grouping::same_shape(const Value& a, const Value& b) const {
  const auto &x = a.shape(), &y = b.shape();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [&](Expr p, Expr q) { return arith::prove_equal(p, q, facts_); });
}

Changed Grouping::build() {
  std::map<int32_t, std::vector<Op*>> groups;
  for (int32_t i = 0; i < count(); ++i) groups[root(i)].push_back(nodes_[i].op);
  Changed changed = Changed::kNo;
  for (auto& [last, members] : groups) {
    if (members.size() < 2) continue;
    fuse_group(module_, members, *members.back());
    changed = Changed::kYes;
  }
  return changed;
}

namespace {

Changed group_region(Module& module, Region& region, const arith::Facts& facts, const PassContext& context) {
  auto most_members = static_cast<size_t>(context.option(kFuseMembers));
  Changed changed = Changed::kNo;
  for (Block* block : region.blocks) {
    changed |= Grouping(module, *block, facts, most_members, context.target).run();
    for (Op* op : block->ops)
      for (Region* inner : op->regions) changed |= group_region(module, *inner, facts, context);
  }
  return changed;
}

}  // namespace

Result<Changed> fuse_ops(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions())
    changed |= group_region(module, function->body(), function->facts, context);
  return changed;
}

}  // namespace relaxc
