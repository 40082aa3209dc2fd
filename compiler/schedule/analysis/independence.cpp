// independence.cpp: a dependence test for loops that may run on several cores.
//
// Strategies know at the beginning which axes are independent, but a loop that was made by splits and fusions is known
// only by its accesses. So this test looks only at accesses, and a strategy that is wrong gets a serial loop instead of
// a race.
//
// The method: for every buffer that the body writes, there must be a dim in which all accesses of iteration v are
// within [c * v + base + low, c * v + base + high] with high - low < |c|, where base depends on nothing inside of the
// loop. Then two iterations never access the same element. Rejected: the exact tests of polyhedral compilers, which
// would allow more (a dim and its remainder in two subscripts) than strategies make.
#include "compiler/schedule/analysis/independence.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

namespace relaxc::schedule {

namespace {

class Independence {
 public:
  Independence(Stmt root, const tir::For& loop, const std::set<BufferRef>& sums) : loop_(loop), own_(sums) {
    tir::for_each_stmt(root, [&](Stmt s) {
      const auto* view = s.as<tir::View>();
      if (view == nullptr) return;
      bases_[view->buffer] = view->base;
      offsets_[view->buffer] = view->byte_offset;
    });
  }

  bool run() {
    if (!collect()) return false;
    std::map<uint32_t, std::vector<Access>> written;
    for (const Access& access : accesses_)
      if (access.is_store && own_.count(memory(access.buffer)) == 0) written[memory(access.buffer)->id];
    for (const Access& access : accesses_)
      if (auto it = written.find(memory(access.buffer)->id); it != written.end()) it->second.push_back(access);
    for (const auto& [id, list] : written)
      if (!apart(list)) return false;
    return true;
  }

 private:
  /// Collects what the body binds, allocates and accesses; false if it has statements that this test cannot handle.
  bool collect() {
    bool known = true;
    tir::for_each_stmt(loop_.body, [&](Stmt s) {
      if (const auto* alloc = s.as<tir::Alloc>()) own_.insert(alloc->buffer);
      if (const auto* inner = s.as<tir::For>()) bind(*inner);
      if (const auto* let = s.as<tir::Let>()) inner_.insert(let->var);
      if (const auto* block = s.as<tir::Block>())  // parents come first
        for (const tir::IterVar& iter : block->iters) bindings_[iter.var] = arith::substitute(iter.binding, bindings_);
      switch (s->kind) {
        case tir::StmtKind::kSeq:
        case tir::StmtKind::kFor:
        case tir::StmtKind::kIf:
        case tir::StmtKind::kLet:
        case tir::StmtKind::kAlloc:
        case tir::StmtKind::kView:
        case tir::StmtKind::kStore:
        case tir::StmtKind::kBlock:
          break;
        default:
          known = false;
      }
    });
    for_each_access(loop_.body, [&](const Access& access) {
      accesses_.push_back(access);
      accesses_.back().indices = without_units(*access.buffer, access.indices);
      for (Expr& index : accesses_.back().indices) index = arith::substitute(index, bindings_);
      known &= memory(access.buffer) != nullptr;
    });
    return known;
  }

  void bind(const tir::For& inner) {
    inner_.insert(inner.var);
    if (!inner.min.is_constant(0)) return;
    int64_t most = arith::bounds(inner.extent, facts_).upper;
    facts_.bound(inner.var, {0, most != INT64_MAX ? std::max<int64_t>(most, 1) - 1 : INT64_MAX});
  }

  /// The buffer that `buffer` is a view of, through all views; null if its address is only known during the run.
  BufferRef memory(BufferRef buffer) const {
    for (auto it = bases_.find(buffer); it != bases_.end(); it = bases_.find(buffer)) {
      buffer = it->second;
      if (buffer == nullptr) return nullptr;
    }
    return buffer;
  }

  bool apart(const std::vector<Access>& list) const {
    for (const Access& access : list)
      if (!same_view(access.buffer, list[0].buffer)) return false;
    for (size_t dim = 0; dim < list[0].indices.size(); ++dim)
      if (independent_in(list, dim)) return true;
    return false;
  }

  /// The elements of `list` for dims of more than one element; along other dims all subscripts are the same place.
  static std::vector<Expr> without_units(const tir::Buffer& buffer, const std::vector<Expr>& list) {
    std::vector<Expr> out;
    for (size_t i = 0; i < list.size(); ++i)
      if (!buffer.shape[i].is_constant(1)) out.push_back(list[i]);
    return out;
  }

  /// Whether equal subscripts in both buffers are the same places, where dims of one element do not count.
  bool same_view(BufferRef a, BufferRef b) const {
    if (a == b) return true;
    std::vector<Expr> dims = without_units(*a, a->shape), others = without_units(*b, b->shape);
    if (a->dtype != b->dtype || dims.size() != others.size()) return false;
    if (!a->strides.empty() || !b->strides.empty()) return false;
    for (size_t i = 0; i < dims.size(); ++i)
      if (!arith::prove_equal(dims[i], others[i])) return false;
    return begins_at_memory(a) && begins_at_memory(b);
  }
  bool begins_at_memory(BufferRef buffer) const {
    for (auto it = bases_.find(buffer); it != bases_.end(); it = bases_.find(buffer)) {
      Expr offset = offsets_.at(buffer);
      if (offset && !offset.is_constant(0)) return false;
      buffer = it->second;
    }
    return true;
  }

  bool independent_in(const std::vector<Access>& list, size_t dim) const {
    auto step = step_of(list[0].indices[dim], loop_.var);
    if (!step || *step == 0) return false;
    arith::Substitution none{{loop_.var, loop_.min}}, inside = none;
    for (Expr var : inner_)
      if (var.dtype().is_index()) inside[var] = var - var;
    Expr base = arith::simplify(arith::substitute(list[0].indices[dim], inside));
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (const Access& access : list) {
      if (step_of(access.indices[dim], loop_.var) != step || has_load(access.indices[dim])) return false;
      Expr rest = arith::simplify(arith::substitute(access.indices[dim], none) - base);
      for (Expr var : arith::free_vars(rest))
        if (inner_.count(var) == 0) return false;
      arith::Range range = arith::bounds(rest, facts_);
      low = std::min(low, range.lower), high = std::max(high, range.upper);
    }
    int64_t width = 0;
    return !__builtin_sub_overflow(high, low, &width) && width < std::abs(*step);
  }

  const tir::For& loop_;
  std::map<BufferRef, BufferRef> bases_;  // never iterated
  std::map<BufferRef, Expr> offsets_;     // byte offsets of views in their bases; never iterated
  std::set<BufferRef> own_;               // buffers whose accesses never conflict; never iterated
  std::unordered_set<Expr> inner_;        // variables that the body binds
  arith::Substitution bindings_;          // values of the axes of blocks
  std::vector<Access> accesses_;
  arith::Facts facts_;
};

}  // namespace

bool has_independent_iterations(Stmt root, const tir::For& loop, const std::set<BufferRef>& sums) {
  return Independence(root, loop, sums).run();
}

}  // namespace relaxc::schedule
