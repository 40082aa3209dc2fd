// batches_lanes.cpp: the steps of a batch that run for each lane: computations, loads and stores.
//
// Most instructions of a kernel are those of its innermost loops, which are handled here without the general ways of
// algebra.h and memory.h; these would give the same.
#include <algorithm>
#include <array>

#include "compiler/proof/kernels/batches.h"
#include "compiler/proof/kernels/fold.h"
#include "compiler/tir/interpreter_ops.h"

namespace relaxc::proof {

using tir::interpreter::Instruction;
using tir::interpreter::kLanes;
using tir::interpreter::Op;
using tir::interpreter::Role;
using tir::interpreter::wrapping_add;

/// The operands of one instruction for all lanes, and its result.
struct Batches::Operands {
  const Instruction &n, &next;
  Lanes a, b, c;
  Term* d;
};

/// Computes each lane by `fast`, or in the general way where that returns false. Returns false if the run stops.
template <typename Fast>
bool Batches::each(const Operands& o, Fast fast) {
  for (int64_t l = 0; l < count_; ++l)
    if (!fast(l) && !s_.compute(o.n, o.next, o.a[l], o.b[l], o.c[l], o.d[l])) return false;
  return true;
}

bool Batches::in_lanes(size_t at) {
  const BatchStep& s = plan_->steps[at];
  const Operands o{s.n, after(at), lanes_of(s.a), lanes_of(s.b), lanes_of(s.c), vector(s.d)};
  const auto& [n, next, a, b, c, d] = o;
  if (n.op == Op::kMove) return each(o, [&](int64_t l) { return d[l] = a[l], true; });
  if (n.op == Op::kSelect)
    return each(o, [&](int64_t l) {
      const bool fast = a[l].is_number();
      if (fast) d[l] = a[l].number() != 0 ? b[l] : c[l];
      return fast;
    });
  if (operand_kind(n.op) == OperandKind::kWhole) return of_numbers(o);
  const Algebra& algebra = s_.algebra;
  if (algebra.meaning() == Meaning::kExact) return each(o, [](int64_t) { return false; });
  auto reals = [&](int64_t l) { return a[l].kind == TermKind::kReal && b[l].kind == TermKind::kReal; };
  switch (n.op) {
    case Op::kFmaF:
      return each(o, [&](int64_t l) {
        const bool fast = reals(l) && c[l].kind == TermKind::kReal && !a[l].is_constant_real();
        if (fast) d[l] = algebra.field_fma(a[l], b[l], c[l]);
        return fast;
      });
    case Op::kAddF:
      return each(o, [&](int64_t l) { return reals(l) && (d[l] = algebra.field_sum(a[l], b[l]), true); });
    case Op::kMulF:
      return each(o, [&](int64_t l) { return reals(l) && (d[l] = algebra.field_product(a[l], b[l]), true); });
    default:
      return each(o, [](int64_t) { return false; });
  }
}

/// Computes with known integers: at the border of an image, subscripts and conditions differ from lane to lane.
bool Batches::of_numbers(const Operands& o) {
  auto lanes = [&](auto result) {
    return each(o, [&](int64_t l) {
      const bool fast = o.a[l].is_number() && o.b[l].is_number();
      if (fast) o.d[l] = number_term(result(o.a[l].number(), o.b[l].number()));
      return fast;
    });
  };
  switch (o.n.op) {
    case Op::kLtI:
      return lanes([](int64_t x, int64_t y) { return int64_t{x < y}; });
    case Op::kLeI:
      return lanes([](int64_t x, int64_t y) { return int64_t{x <= y}; });
    case Op::kAndI:
      return lanes([](int64_t x, int64_t y) { return x & y; });
    case Op::kMinI:
      return lanes([](int64_t x, int64_t y) { return std::min(x, y); });
    case Op::kMaxI:
      return lanes([](int64_t x, int64_t y) { return std::max(x, y); });
    case Op::kAddI:
      return lanes([](int64_t x, int64_t y) { return wrapping_add(x, y); });
    default:
      return lanes([&](int64_t x, int64_t y) { return result_of_numbers(o.n, x, y); });
  }
}

std::optional<Batches::Span> Batches::span_of(const BatchStep& s) const {
  if (plan_->roles[s.b] == Role::kVector) return std::nullopt;
  const Term &index = s_.r[s.n.b], &count = s_.r[static_cast<size_t>(s.n.extra)];
  if (!index.is_number() || !count.is_number()) return std::nullopt;
  const int64_t step = plan_->roles[s.b] == Role::kAffine ? steps_[s.b] : 0;
  const int64_t last = index.number() + (count_ - 1) * step;
  if (std::min(index.number(), last) < 0 || std::max(index.number(), last) >= count.number()) return std::nullopt;
  const int64_t bytes = s.n.dtype.bytes(), begin = static_cast<int64_t>(s_.r[s.n.a].y);
  if (plan_->own[s.a]) return Span{begin + index.number() * count_ * bytes, (step * count_ + 1) * bytes};
  return Span{begin + index.number() * bytes, step * bytes};
}

bool Batches::allocate(const BatchStep& s) {
  const uint64_t memory = s_.memory.allocate(s_.r[s.n.a].number() * count_, s_.task);
  s_.r[s.n.dst] = Term{memory, 0, 0, 0, TermKind::kAddress, 0, false};
  return true;
}

bool Batches::load(const BatchStep& s) {
  if (!tracks_.empty() && !track(s)) return false;
  Term* to = vector(s.d);
  const std::optional<Span> span = span_of(s);
  if (span && s_.memory.load(s_.r[s.n.a].x, span->first, span->step, count_, s.n.dtype, s_.task, to)) return true;
  const Lanes index = lanes_of(s.b);
  if (!plan_->own[s.a] && gather(s, index)) return true;
  for (int64_t l = 0; l < count_; ++l)
    if (!s_.load(s.n, index[l], to[l], lane_of(s, l))) return false;
  return true;
}

bool Batches::gather(const BatchStep& s, const Lanes& index) {
  const Term &base = s_.r[s.n.a], &count = s_.r[static_cast<size_t>(s.n.extra)];
  std::array<int64_t, kLanes> elements;
  for (int64_t l = 0; l < count_; ++l) {
    elements[static_cast<size_t>(l)] = index[l].number();
    if (!index[l].is_number() || index[l].number() < 0 || index[l].number() >= count.number()) return false;
  }
  return count.is_number() && s_.memory.gather(base.x, static_cast<int64_t>(base.y), elements.data(), count_, s.n.dtype,
                                               s_.task, vector(s.d));
}

bool Batches::store(const BatchStep& s) {
  if (!plan_->own[s.a]) {
    if (steps_[s.b] == 0) return s_.stop(RunEnd::kSerial, "");  // all lanes have one element, so their order counts
    if (!tracks_.empty() && !track(s)) return false;
  }
  const Lanes value = lanes_of(s.d);
  const std::optional<Span> span = span_of(s);
  if (span &&
      s_.memory.store(s_.r[s.n.a].x, span->first, span->step, count_, s.n.dtype, value.first, value.step, s_.task))
    return true;
  const Lanes index = lanes_of(s.b);
  for (int64_t l = 0; l < count_; ++l)
    if (!s_.store(s.n, index[l], value[l], lane_of(s, l))) return false;
  return true;
}

}  // namespace relaxc::proof
