// grouping_rows.cpp: makes one kernel of what is computed from the same rows.
//
// Sums that reduce rows join what is computed from those rows with them (a norm, a softmax and the ops before it), so
// that a row is read from memory once. A product whose rows a softmax reduces, and the product that the softmax feeds,
// are attention: joined, they need no memory for all scores, of which there is one for each pair of tokens.
#include <algorithm>

#include "compiler/transform/graph/fusion/grouping.h"

namespace relaxc {

using namespace relax;
using analysis::Pattern;

namespace {

constexpr int64_t kNarrow = 16;  ///< judgement: sums of fewer terms get slower if rows are cut into blocks

bool is_narrow(const analysis::Nest& product) {
  const int64_t* terms = product.loops.back()->extent.constant();
  return terms != nullptr && *terms < kNarrow;
}

}  // namespace

void Grouping::try_rows(int32_t from) {
  int32_t to = nodes_[from].post_dominator;
  if (to == kExit || root(from) == root(to) || nodes_[from].shape.pattern == Pattern::kOpaque) return;
  std::vector<int32_t> path = between(from, to);
  path.push_back(to);
  std::unordered_set<int32_t> roots{root(from)};
  for (int32_t i : path) roots.insert(root(i));
  size_t members = 0;
  std::optional<size_t> rows;
  for (int32_t r : roots) {
    members += size_[r];
    if (rows_[r]) rows = std::min(rows.value_or(*rows_[r]), *rows_[r]);
  }
  if (!rows || *rows == 0 || members > most_members_) return;
  std::unordered_set<Value*> carried{nodes_[from].op->result()};
  for (int32_t i : path)
    if (i != to) carried.insert(nodes_[i].op->result());
  for (int32_t i : path) {
    const Node& node = nodes_[i];
    bool by_rows = node.shape.pattern != Pattern::kOpaque &&
                   for_carried(node, carried, [&](tir::BufferRef buffer, const Value& value) {
                     return analysis::reads_own_rows(node.shape, buffer, *rows) && !computed_again(value, *rows);
                   });
    if (!by_rows) return;
  }
  for (int32_t i : path) unite(from, i);
}

void Grouping::try_products(int32_t last) {
  if (!multiplies_computed(last)) return;
  for (Value* operand : nodes_[last].op->operands()) {
    int32_t middle = producer(operand);
    if (middle == kExit || !is_own_group(middle, last)) continue;
    std::optional<int32_t> first = product_before(middle);
    if (!first || root(*first) == root(last)) continue;
    size_t rows = *rows_[middle], members = size_[*first] + size_[middle] + size_[root(last)];
    const std::vector<Expr>&own = nodes_[*first].op->result()->shape(), &out = nodes_[last].op->result()->shape();
    bool same = own.size() == rows + 1 && out.size() == rows + 1 && members <= most_members_;
    same = same && !own[rows - 1].is_constant(1);  // one row takes little memory
    for (size_t i = 0; same && i < rows; ++i) same = arith::prove_equal(own[i], out[i], facts_);
    if (!same) continue;
    unite(*first, middle);
    return unite(middle, last);
  }
}

bool Grouping::multiplies_computed(int32_t i) const {
  const Node& node = nodes_[i];
  if (!node.shape.single_reduction() || !node.op->result()->dtype().is_float()) return false;
  for (const Value* operand : node.op->operands())
    if (operand != nullptr && operand->op != nullptr && operand->op->kind == OpKind::kConstant) return false;
  std::vector<tir::BufferRef> factors = analysis::multiplied_operands(*node.function);
  return factors.size() == 2 && std::all_of(factors.begin(), factors.end(), [&](tir::BufferRef factor) {
           return analysis::reads_along_axes(node.shape.nest, factor);
         });
}

bool Grouping::is_own_group(int32_t from, int32_t to) {
  const Node& node = nodes_[from];
  if (root(from) != from || !rows_[from] || *rows_[from] == 0 || node.escapes) return false;
  if (std::any_of(node.users.begin(), node.users.end(), [&](int32_t user) { return user != to; })) return false;
  return reads_rows_of(nodes_[to], *node.op->result(), *rows_[from]);
}

bool Grouping::reads_rows_of(const Node& node, Value& value, size_t rows) {
  return for_carried(node, {&value}, [&](tir::BufferRef buffer, const Value&) {
    return analysis::reads_own_rows(node.shape, buffer, rows);
  });
}

std::optional<int32_t> Grouping::product_before(int32_t middle) {
  std::vector<int32_t> waiting{middle};
  std::unordered_set<int32_t> seen{middle};
  std::optional<int32_t> found;
  while (!waiting.empty()) {
    int32_t i = waiting.back();
    waiting.pop_back();
    for (Value* operand : nodes_[i].op->operands()) {
      int32_t j = producer(operand);
      if (j == kExit) continue;
      if (root(j) == middle) {
        if (seen.insert(j).second) waiting.push_back(j);
      } else if (root(j) == j && ends_product(j)) {
        if ((found && *found != j) || !reads_rows_of(nodes_[i], *operand, *rows_[middle])) return std::nullopt;
        found = j;
      }
    }
  }
  if (!found || nodes_[*found].escapes) return std::nullopt;
  for (int32_t user : nodes_[*found].users)
    if (root(user) != middle) return std::nullopt;
  return found;
}

bool Grouping::ends_product(int32_t last) {
  std::vector<int32_t> waiting{last};
  std::unordered_set<int32_t> seen{last};
  bool found = false;
  while (!waiting.empty()) {
    int32_t i = waiting.back();
    waiting.pop_back();
    if (!nodes_[i].shape.spatial() && (!multiplies_computed(i) || is_narrow(nodes_[i].shape.nest))) return false;
    found |= !nodes_[i].shape.spatial();
    for (const Value* operand : nodes_[i].op->operands())
      if (int32_t j = producer(operand); j != kExit && root(j) == last && seen.insert(j).second) waiting.push_back(j);
  }
  return found;
}

int32_t Grouping::producer(const Value* value) const {
  auto found = value == nullptr ? index_.end() : index_.find(value->op);
  return found == index_.end() ? kExit : found->second;
}

bool Grouping::computed_again(const Value& value, size_t rows) {
  const Node& node = nodes_[index_.at(value.op)];
  bool stored = !node.shape.spatial(), narrow = true;
  for (size_t i = rows; i < value.shape().size(); ++i) narrow &= value.shape()[i].is_constant(1);
  if (stored || narrow || analysis::cheap(node.shape.nest.store->value)) return false;
  size_t nests = 0;
  for (int32_t user : node.users)
    for_carried(nodes_[user], {value.op->result()}, [&](tir::BufferRef buffer, const Value&) {
      nests += analysis::nests_reading(nodes_[user].shape, buffer);
      return true;
    });
  return nests > 1;
}

}  // namespace relaxc
