// interpreter_batch.cpp: executes batches.
#include "compiler/tir/interpreter_batch.h"

#include <algorithm>
#include <cstring>

#include "compiler/tir/interpreter_ops.h"

namespace relaxc::tir::interpreter {

size_t BatchRunner::run(const Program& program, Register* r, const Instruction& n) {
  const BatchPlan* plan = program.plans[static_cast<size_t>(n.extra)].get();
  if (plan == nullptr || !plan->steady) return static_cast<size_t>(program.loops[static_cast<size_t>(n.extra)].head);
  auto one_by_one = static_cast<size_t>(plan->loop.head);
  int64_t& counter = r[n.a].i;
  int64_t& tried = r[n.dst].i;
  int64_t end = r[plan->loop.end].i;
  if (counter < tried || end - counter < kFewest) return one_by_one;
  program_ = &program, plan_ = plan, r_ = r;
  if (overlaps(*plan)) {
    tried = INT64_MAX;
    return one_by_one;
  }
  size_t slots = plan->registers.size();
  if (lanes_.size() < slots * static_cast<size_t>(kLanes)) lanes_.resize(slots * static_cast<size_t>(kLanes));
  if (steps_.size() < slots) steps_.resize(slots), filled_.resize(slots, 0);
  int64_t first = counter, most = kLanes;
  while (first < end) {
    counter = first;
    int64_t done = batch(*plan, std::min(most, end - first));
    most = done < 0 ? -done : kLanes;
    if (done < 0 && -done < kFewest) {
      counter = first;
      tried = first + kPause;
      return one_by_one;
    }
    first += std::max<int64_t>(done, 0);
  }
  counter = end;
  return static_cast<size_t>(plan->loop.next) + 1;
}

/// Whether a stored buffer shares memory with another access, other than the same elements in the same iteration.
bool BatchRunner::overlaps(const BatchPlan& plan) const {
  auto begin = [&](const BatchAccess& x) { return reinterpret_cast<uintptr_t>(r_[x.address].p); };
  auto size = [&](const BatchAccess& x) {
    return static_cast<uintptr_t>(std::max<int64_t>(r_[x.count].i, 0) * x.bytes);
  };
  for (const BatchAccess& s : plan.accesses)
    for (const BatchAccess& x : plan.accesses) {
      if (!s.store || x.address == s.address) continue;
      bool apart = begin(s) + size(s) <= begin(x) || begin(x) + size(x) <= begin(s);
      bool same = begin(s) == begin(x) && s.bytes == x.bytes && s.index == x.index;
      if (!apart && !same) return true;
    }
  return false;
}

/// Returns all lanes of a register; a uniform or affine one is expanded first.
Register* BatchRunner::lanes_of(uint32_t slot) {
  Register* out = vector(slot);
  const Register value = r_[plan_->registers[slot]];
  switch (plan_->roles[slot]) {
    case Role::kVector:
      break;
    case Role::kUniform:
      if (plan_->outside[slot] && filled_[slot] == generation_) break;
      filled_[slot] = generation_;
      std::fill(out, out + count_, value);
      break;
    case Role::kAffine:
      for (int64_t l = 0; l < count_; ++l) out[l].i = value.i + l * steps_[slot];
      break;
  }
  return out;
}

int64_t BatchRunner::batch(const BatchPlan& plan, int64_t lanes) {
  count_ = lanes;
  ++generation_;
  steps_[plan.counter_slot] = 1;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const BatchStep& s = plan.steps[i];
    const Instruction& n = s.n;
    switch (s.mode) {
      case Mode::kOnce:
        once(n);
        break;
      case Mode::kAffine:
        affine(s);
        break;
      case Mode::kLanes:
        in_lanes(s);
        break;
      case Mode::kLoadOnce:
      case Mode::kLoad:
        load(s, s.mode == Mode::kLoadOnce);
        break;
      case Mode::kStore:
        store(s);
        break;
      case Mode::kJump: {
        bool taken = n.op == Op::kJump || (n.op == Op::kJumpIfZero && r_[n.a].i == 0) ||
                     (n.op == Op::kJumpIfNotLess && r_[n.a].i >= r_[n.b].i) ||
                     (n.op == Op::kLoopNext && ++r_[n.dst].i < r_[n.b].i);
        if (taken) i = static_cast<size_t>(n.extra) - 1;
        break;
      }
      case Mode::kBranch: {
        const Register* a = lanes_of(s.a);
        int64_t agree = 1;
        while (agree < lanes && (a[agree].i == 0) == (a[0].i == 0)) ++agree;
        if (agree < lanes) return -agree;
        if (a[0].i == 0) i = static_cast<size_t>(n.extra) - 1;
        break;
      }
      case Mode::kAlloc:  // these two are in plans for runs over terms only
      case Mode::kFree:
      case Mode::kNothing:
        break;
    }
  }
  return lanes;
}

void BatchRunner::once(const Instruction& n) {
  Register& d = r_[n.dst];
  const Register a = r_[n.a], b = r_[n.b], c = r_[n.c];
  switch (n.op) {
#define X(name, ...) \
  case Op::k##name:  \
    __VA_ARGS__;     \
    break;
    RELAXC_PURE_OPS(X)
#undef X
    default:
      RELAXC_UNREACHABLE("an instruction that does more than compute");
  }
}

void BatchRunner::affine(const BatchStep& s) {
  auto step = [&](uint32_t slot) { return plan_->roles[slot] == Role::kAffine ? steps_[slot] : 0; };
  int64_t a = step(s.a), b = step(s.b);
  int64_t x = r_[s.n.a].i, y = r_[s.n.b].i;
  switch (s.n.op) {
    case Op::kAddI:
      steps_[s.d] = wrapping_add(a, b);
      break;
    case Op::kSubI:
      steps_[s.d] = wrapping_sub(a, b);
      break;
    case Op::kMulI:
      steps_[s.d] = plan_->roles[s.a] == Role::kAffine ? wrapping_mul(a, y) : wrapping_mul(x, b);
      break;
    default:
      steps_[s.d] = a;
      break;
  }
  // On another path, this register may be affine; here its value may be uniform, and then its step is 0.
  once(s.n);
}

void BatchRunner::in_lanes(const BatchStep& s) {
  const Instruction& n = s.n;
  const Register *as = lanes_of(s.a), *bs = lanes_of(s.b), *cs = lanes_of(s.c);
  Register* ds = vector(s.d);
  switch (n.op) {
#define X(name, ...)                                                   \
  case Op::k##name:                                                    \
    for (int64_t l = 0; l < count_; ++l) {                             \
      [[maybe_unused]] const Register a = as[l], b = bs[l], c = cs[l]; \
      Register& d = ds[l];                                             \
      __VA_ARGS__;                                                     \
    }                                                                  \
    break;
    RELAXC_PURE_OPS(X)
#undef X
    default:
      RELAXC_UNREACHABLE("an instruction that does more than compute");
  }
}

/// Calls each(lane, address) for the elements of an access. The address is null where a lenient load is out of bounds.
template <typename T, typename Each>
void BatchRunner::elements(const BatchStep& s, int64_t lanes, Each each) {
  const Instruction& n = s.n;
  auto* base = static_cast<std::byte*>(r_[n.a].p);
  int64_t size = r_[n.extra].i;
  Role role = plan_->roles[s.b];
  int64_t step = role == Role::kAffine ? steps_[s.b] : 0, first = r_[n.b].i;
  auto inside = [&](int64_t at) { return at >= 0 && at < size; };
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  if (role != Role::kVector && inside(first) && inside(first + (lanes - 1) * step)) {
    if (step == 1)
      for (int64_t l = 0; l < lanes; ++l) each(l, base + (first + l) * kBytes);
    else
      for (int64_t l = 0; l < lanes; ++l) each(l, base + (first + l * step) * kBytes);
    return;
  }
  const Register* index = role == Role::kVector ? vector(s.b) : nullptr;
  for (int64_t l = 0; l < lanes; ++l) {
    int64_t at = index != nullptr ? index[l].i : first + l * step;
    if (!inside(at) && n.lenient) {
      each(l, nullptr);
      continue;
    }
    if (!inside(at) && check_bounds_)
      RELAXC_UNREACHABLE("element " + std::to_string(at) + " of buffer " + program_->buffer_names[n.c] + " of " +
                         std::to_string(size) + " elements");
    each(l, base + at * kBytes);
  }
}

void BatchRunner::load(const BatchStep& s, bool once) {
  Register* d = once ? &r_[s.n.dst] : vector(s.d);
  int64_t lanes = once ? 1 : count_;
  auto fetch = [&]<typename T>(T, auto put) {
    elements<T>(s, lanes, [&](int64_t l, const std::byte* at) {
      T value{};
      if (at != nullptr) std::memcpy(&value, at, sizeof(T));
      put(d[l], value);
    });
  };
  auto integer = [](Register& to, auto value) { to.i = static_cast<int64_t>(value); };
  auto small = [&](Register& to, auto value) { to.f = static_cast<float>(arith::decode_float(s.n.dtype, value)); };
  switch (s.n.op) {
    case Op::kLoad8I:
      return fetch(int8_t{}, integer);
    case Op::kLoad8U:
      return fetch(uint8_t{}, integer);
    case Op::kLoad16I:
      return fetch(int16_t{}, integer);
    case Op::kLoad16U:
      return fetch(uint16_t{}, integer);
    case Op::kLoad32I:
      return fetch(int32_t{}, integer);
    case Op::kLoad32U:
      return fetch(uint32_t{}, integer);
    case Op::kLoad64:
      return fetch(int64_t{}, integer);
    case Op::kLoadF:
      return fetch(float{}, [](Register& to, float value) { to.f = value; });
    default:
      return s.n.dtype.bytes() == 1 ? fetch(uint8_t{}, small) : fetch(uint16_t{}, small);
  }
}

void BatchRunner::store(const BatchStep& s) {
  const Register* from = lanes_of(s.d);
  auto put = [&]<typename T>(T, auto value_of) {
    elements<T>(s, count_, [&](int64_t l, std::byte* at) {
      T value = value_of(from[l]);
      std::memcpy(at, &value, sizeof(T));
    });
  };
  auto small = [&](const Register& x) { return arith::encode_float(s.n.dtype, static_cast<double>(x.f)); };
  switch (s.n.op) {
    case Op::kStore8:
      return put(uint8_t{}, [](const Register& x) { return static_cast<uint8_t>(x.u); });
    case Op::kStore16:
      return put(uint16_t{}, [](const Register& x) { return static_cast<uint16_t>(x.u); });
    case Op::kStore32:
      return put(uint32_t{}, [](const Register& x) { return static_cast<uint32_t>(x.u); });
    case Op::kStore64:
      return put(uint64_t{}, [](const Register& x) { return x.u; });
    case Op::kStoreF:
      return put(float{}, [](const Register& x) { return x.f; });
    default:
      if (s.n.dtype.bytes() == 1)
        return put(uint8_t{}, [&](const Register& x) { return static_cast<uint8_t>(small(x)); });
      return put(uint16_t{}, [&](const Register& x) { return static_cast<uint16_t>(small(x)); });
  }
}

}  // namespace relaxc::tir::interpreter
