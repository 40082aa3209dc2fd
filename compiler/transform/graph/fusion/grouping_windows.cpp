// grouping_windows.cpp: makes one kernel of a pool and the convolution before it.
//
// A map of many channels over a large image leaves the cache before the pool after it reads it, and a pool reads each
// element about once, so its time is that of memory. In one kernel, a block of rows of the map is computed, and reduced
// while it is in the cache (schedule/primitives/fused_conv_pool_tiling.h). The two stay separate kernels in three
// cases. The map fits the cache. The convolution does so much arithmetic for each element that the speed of memory does
// not limit it. The pool's windows overlap, so that each block would compute rows of the previous block again. One
// kernel would then only keep the convolution's operands in memory for longer. A map of open size counts as large:
// blocks cost little where it is small.
#include <algorithm>

#include "compiler/plan/storage.h"
#include "compiler/transform/graph/fusion/grouping.h"

namespace relaxc {

using namespace relax;
using analysis::Pattern;

namespace {

// Judgement: no property of a machine gives these.
constexpr double kLeastShareOfMemory = 0.05;  ///< least share of a sum's time at which memory traffic matters
constexpr double kMostReads = 1.25;           ///< most reads per element of the map, above 1 for windows at borders
constexpr int64_t kOpenDim = 1024;            ///< assumed for symbols, as far as their bounds allow

/// Returns the elements of one item of the batch; nothing if that overflows or depends on data.
std::optional<int64_t> elements_of_one(const Value& value, const arith::Facts& facts) {
  const auto assumed = [&](arith::Var var) { return plan::typical(facts, var, kOpenDim); };
  int64_t count = 1;
  for (size_t d = 1; d < value.shape().size(); ++d) {
    const std::optional<int64_t> dim = arith::evaluate(value.shape()[d], assumed);
    if (!dim || __builtin_mul_overflow(count, *dim, &count)) return std::nullopt;
  }
  return count;
}

/// Returns the number of terms in the sum for an element of the result; nothing if that is not known.
std::optional<int64_t> terms_of(const analysis::KernelShape& shape) {
  std::vector<tir::Stmt> nests = shape.before;
  nests.push_back(shape.last);
  int64_t count = 1;
  for (tir::Stmt s : nests)
    for (const tir::IterVar& iter : analysis::as_nest(s).block->iters) {
      if (iter.iter_kind != tir::IterKind::kReduce) continue;
      if (iter.extent.constant() == nullptr || __builtin_mul_overflow(count, *iter.extent.constant(), &count))
        return std::nullopt;
    }
  return count;
}

}  // namespace

void Grouping::try_windows(int32_t pool) {
  if (!is_pool(nodes_[pool])) return;
  Value& map = *nodes_[pool].op->operands()[0];
  const int32_t last = producer(&map);
  if (last == kExit || root(last) != last || nodes_[last].escapes || size_[last] + size_[root(pool)] > most_members_)
    return;
  if (std::any_of(nodes_[last].users.begin(), nodes_[last].users.end(), [&](int32_t user) { return user != pool; }))
    return;
  const int64_t elements = elements_of_one(map, facts_).value_or(0);
  const bool leaves_cache = target_.vector_bits != 0 && elements > target_.l2_bytes / map.dtype().bytes();
  if (leaves_cache && reads_once(nodes_[pool], elements) && ends_short_sum(last)) unite(last, pool);
}

bool Grouping::is_pool(const Node& node) const {
  if (node.shape.pattern != Pattern::kReduction || analysis::reductions(node.shape) != 1) return false;
  if (node.op->operands().size() != 1 || node.op->operands()[0] == nullptr) return false;
  const std::vector<Expr>&from = node.op->operands()[0]->shape(), &to = node.op->result()->shape();
  if (from.size() != to.size() || to.size() < 4) return false;
  const auto other = std::mismatch(from.begin(), from.end(), to.begin(), [](Expr a, Expr b) {
                       return arith::prove_equal(a, b);
                     }).second;
  return other != to.begin() && other < to.end() - 1 && (other->constant() == nullptr || *other->constant() > 1);
}

bool Grouping::reads_once(const Node& pool, int64_t elements) const {
  const std::optional<int64_t> taps = terms_of(pool.shape), results = elements_of_one(*pool.op->result(), facts_);
  return taps && results &&
         static_cast<double>(*taps) * static_cast<double>(*results) <= kMostReads * static_cast<double>(elements);
}

bool Grouping::ends_short_sum(int32_t last) {
  const double most_terms = target_.memory_trip_cycles * target_.fma_per_cycle / kLeastShareOfMemory;
  int32_t products = 0;
  for (int32_t i = 0; i <= last; ++i) {
    if (root(i) != last || nodes_[i].shape.spatial()) continue;
    if (!nodes_[i].shape.single_reduction() || analysis::multiplied_operands(*nodes_[i].function).size() != 2)
      return false;
    if (static_cast<double>(terms_of(nodes_[i].shape).value_or(INT64_MAX)) > most_terms) return false;
    ++products;
  }
  return products == 1;
}

}  // namespace relaxc
