// batches.cpp: see batches.h.
//
// The interpreter's own batches are BatchRunner::run and what follows it; here, the values are terms, so what decides
// control flow or addresses must be known, and a step from lane to lane is that of known integers.
#include "compiler/proof/kernels/batches.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "compiler/tir/interpreter_ops.h"

namespace relaxc::proof {

using tir::interpreter::BatchAccess;
using tir::interpreter::Instruction;
using tir::interpreter::kFewest;
using tir::interpreter::kLanes;
using tir::interpreter::kPause;
using tir::interpreter::Loop;
using tir::interpreter::Mode;
using tir::interpreter::Op;
using tir::interpreter::Role;
using tir::interpreter::wrapping_add;
using tir::interpreter::wrapping_mul;
using tir::interpreter::wrapping_sub;

/// A batch of so many iterations spends most of its time in them, and not in what it does once.
constexpr int64_t kEnough = 32;

std::optional<size_t> Batches::run(const Instruction& n) {
  const Loop& loop = s_.program->loops[static_cast<size_t>(n.extra)];
  plan_ = s_.program->plans[static_cast<size_t>(n.extra)].get();
  const auto one_by_one = static_cast<size_t>(loop.head);
  if (plan_ == nullptr || serial_.count(n.extra) != 0) return one_by_one;
  Term &counter = s_.r[n.a], &tried = s_.r[n.dst];
  const int64_t end = s_.r[loop.end].number();
  if (counter.number() < tried.number() || end - counter.number() < kFewest) return one_by_one;
  if (has_longer(loop, end - counter.number())) return one_by_one;
  if (overlaps()) {
    tried = number_term(INT64_MAX);
    return one_by_one;
  }
  const size_t slots = plan_->registers.size(), terms = slots * static_cast<size_t>(kLanes);
  if (lanes_.size() < terms) lanes_.resize(terms);
  if (steps_.size() < slots) steps_.resize(slots);
  int64_t first = counter.number(), most = kLanes;
  while (first < end) {
    counter = number_term(first);
    const std::optional<int64_t> done = batch(std::min(most, end - first));
    if (!done) {
      if (s_.result.end == RunEnd::kSerial) s_.result.loop = n.extra;
      return std::nullopt;
    }
    most = *done < 0 ? -*done : kLanes;
    if (*done < 0 && -*done < kFewest) {
      counter = number_term(first);
      tried = number_term(first + kPause);
      return one_by_one;
    }
    first += std::max<int64_t>(*done, 0);
  }
  counter = number_term(end);
  return static_cast<size_t>(loop.next) + 1;
}

/// What an inner loop's bound was before is taken for what it will be.
bool Batches::has_longer(const Loop& loop, int64_t count) const {
  const std::vector<Loop>& loops = s_.program->loops;
  for (size_t i = 0; i < loops.size() && count < kEnough; ++i)
    if (loops[i].head > loop.head && loops[i].next < loop.next && s_.program->plans[i] != nullptr &&
        serial_.count(static_cast<int64_t>(i)) == 0 && s_.r[loops[i].end].is_number() &&
        s_.r[loops[i].end].number() > count)
      return true;
  return false;
}

/// Returns whether a stored buffer shares memory with another access, other than the same elements in the same
/// iteration.
bool Batches::overlaps() const {
  auto begin = [&](const BatchAccess& x) { return static_cast<int64_t>(s_.r[x.address].y); };
  auto size = [&](const BatchAccess& x) {
    const Term& count = s_.r[x.count];
    return count.is_number() ? std::max<int64_t>(count.number(), 0) * x.bytes : INT64_MAX / 2;
  };
  for (const BatchAccess& stored : plan_->accesses)
    for (const BatchAccess& x : plan_->accesses) {
      if (!stored.store || x.address == stored.address || s_.r[x.address].x != s_.r[stored.address].x) continue;
      const bool apart = begin(stored) + size(stored) <= begin(x) || begin(x) + size(x) <= begin(stored);
      const bool same =
          plan_->steady && begin(stored) == begin(x) && stored.bytes == x.bytes && stored.index == x.index;
      if (!apart && !same) return true;
    }
  return false;
}

Batches::Lanes Batches::lanes_of(uint32_t slot) {
  const Term& value = s_.r[plan_->registers[slot]];
  const Role role = plan_->roles[slot];
  if (role == Role::kUniform || (role == Role::kAffine && steps_[slot] == 0)) return {&value, 0};
  Term* terms = vector(slot);
  for (int64_t l = 0; role == Role::kAffine && l < count_; ++l)
    terms[l] = number_term(value.number() + l * steps_[slot]);
  return {terms, 1};
}

const Instruction& Batches::after(size_t at) const {
  static constexpr Instruction kNone;
  return at + 1 < plan_->steps.size() ? plan_->steps[at + 1].n : kNone;
}

void Batches::begin_tracks() {
  tracks_.clear();
  if (plan_->steady) return;
  tracks_.resize(plan_->registers.size());
  for (const BatchStep& s : plan_->steps)
    if (s.mode == Mode::kStore && !plan_->own[s.a]) tracks_[s.a].stored = true;
}

/// Elements of two lanes differ by a multiple of the step up to (lanes - 1) * step, and those of one lane by multiples
/// of `apart` up to high - low. So lanes cannot meet if either distance is always the smaller one.
bool Batches::track(const BatchStep& s) {
  Track& seen = tracks_[s.a];
  if (!seen.stored) return true;
  const int64_t at = s_.r[s.n.b].number(), step = std::abs(steps_[s.b]);
  if (seen.high < seen.low) {
    seen.low = seen.high = at, seen.step = step;
    return true;
  }
  if (step != seen.step) return s_.stop(RunEnd::kSerial, "");
  seen.apart = std::gcd(seen.apart, at - seen.low);
  seen.low = std::min(seen.low, at), seen.high = std::max(seen.high, at);
  if (seen.apart == 0 || seen.high - seen.low < step || seen.apart > (count_ - 1) * step) return true;
  return s_.stop(RunEnd::kSerial, "");
}

std::optional<int64_t> Batches::batch(int64_t lanes) {
  count_ = lanes;
  begin_tracks();
  steps_[plan_->counter_slot] = 1;
  int64_t agree = lanes;
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    if (!step(i, agree)) return std::nullopt;
    if (agree < lanes) return -agree;
  }
  return lanes;
}

/// Executes a step for all lanes; a jump changes `at`. Returns false if the run stops. `agree` becomes the number of
/// lanes that take the same branch.
bool Batches::step(size_t& at, int64_t& agree) {
  const BatchStep& s = plan_->steps[at];
  const bool each = s.mode == Mode::kLanes || s.mode == Mode::kLoad || s.mode == Mode::kStore;
  s_.left -= each ? count_ : 1;
  switch (s.mode) {
    case Mode::kOnce:
      return once(at);
    case Mode::kAffine:
      return affine(at);
    case Mode::kLanes:
      return in_lanes(at);
    case Mode::kLoadOnce:
      return s_.load(s.n, s_.r[s.n.b], s_.r[s.n.dst]);
    case Mode::kLoad:
      return load(s);
    case Mode::kStore:
      return store(s);
    case Mode::kJump:
      return jump(s.n, at);
    case Mode::kBranch:
      return branch(s, at, agree);
    case Mode::kAlloc:
      return allocate(s);
    case Mode::kFree:
      s_.memory.release(s_.r[s.n.a].x);
      return true;
    case Mode::kNothing:
      return true;
  }
  return true;
}

bool Batches::jump(const Instruction& n, size_t& at) {
  Term &a = s_.r[n.a], &b = s_.r[n.b];
  bool taken = n.op == Op::kJump;
  if (n.op == Op::kJumpIfZero) {
    if (!s_.known(a, "a condition")) return false;
    taken = a.number() == 0;
  } else if (n.op == Op::kJumpIfNotLess) {
    if (!s_.known(a, "a bound of a loop") || !s_.known(b, "a bound of a loop")) return false;
    taken = a.number() >= b.number();
  } else if (n.op == Op::kLoopNext) {
    taken = a.number() + 1 < b.number();
    s_.r[n.dst] = number_term(a.number() + 1);
    if (s_.left < 0) return s_.stop(RunEnd::kOverLimit, kOverLimitText);
  }
  if (taken) at = static_cast<size_t>(n.extra) - 1;
  return true;
}

bool Batches::branch(const BatchStep& s, size_t& at, int64_t& agree) {
  const Lanes a = lanes_of(s.a);
  if (!s_.known(a[0], "a condition")) return false;
  const bool zero = a[0].number() == 0;
  for (agree = 1; agree < count_; ++agree) {
    if (!s_.known(a[agree], "a condition")) return false;
    if ((a[agree].number() == 0) != zero) return true;
  }
  if (zero) at = static_cast<size_t>(s.n.extra) - 1;
  return true;
}

bool Batches::once(size_t at) {
  const Instruction& n = plan_->steps[at].n;
  return s_.compute(n, after(at), s_.r[n.a], s_.r[n.b], s_.r[n.c], s_.r[n.dst]);
}

bool Batches::affine(size_t at) {
  const BatchStep& s = plan_->steps[at];
  auto step_of = [&](uint32_t slot) { return plan_->roles[slot] == Role::kAffine ? steps_[slot] : 0; };
  const int64_t a = step_of(s.a), b = step_of(s.b);
  const Term &x = s_.r[s.n.a], &y = s_.r[s.n.b];
  if (!x.is_number() || (s.n.op != Op::kMove && !y.is_number())) return s_.stop(RunEnd::kSerial, "");
  switch (s.n.op) {
    case Op::kAddI:
      steps_[s.d] = wrapping_add(a, b);
      break;
    case Op::kSubI:
      steps_[s.d] = wrapping_sub(a, b);
      break;
    case Op::kMulI:
      steps_[s.d] = plan_->roles[s.a] == Role::kAffine ? wrapping_mul(a, y.number()) : wrapping_mul(x.number(), b);
      break;
    default:
      steps_[s.d] = a;
      break;
  }
  return once(at);
}

}  // namespace relaxc::proof
