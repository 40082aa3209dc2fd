// interpreter_plan.cpp: finds the loops of flat code that can run in batches.
//
// Roles are the least fixpoint over the body: uniform, affine, vector. The rules that make a batch exact:
//   - nothing but arithmetic, loads, stores and jumps within the body;
//   - jumps depend on uniform values; one that does not may only stand before the first store and outside of inner
//     loops, where a batch can be cut to the iterations that agree;
//   - a buffer that is stored into is accessed by one affine index only. Whether inner loops change it, the plan says.
// A small array that the body allocates is one for each lane, if the caller knows such arrays: its elements are
// vectors, and iterations cannot meet in it.
#include <algorithm>
#include <unordered_map>

#include "compiler/tir/interpreter_batch.h"

namespace relaxc::tir::interpreter {
namespace {

bool is_load(Op op) {
  return op >= Op::kLoad8I && op <= Op::kLoadSmall;
}
bool is_store(Op op) {
  return op >= Op::kStore8 && op <= Op::kStoreSmall;
}
bool jumps(Op op) {
  return op == Op::kJump || op == Op::kJumpIfZero || op == Op::kJumpIfNotLess || op == Op::kLoopNext;
}
/// Whether an instruction does nothing but compute: checked arithmetic, memory accesses, guards and calls do more.
bool is_pure(Op op) {
  bool checked = op >= Op::kCheckedAddI && op <= Op::kCheckedMulI;
  return op < Op::kLoad8I && !checked;
}

/// Largest array that plans have one of for each lane: a tile that a schedule keeps in registers, not a copy of rows.
constexpr int64_t kMostBytesOfArray = 4096;

class Planner {
 public:
  Planner(const Program& program, const Loop& loop, bool arrays_in_lanes)
      : program_(program), loop_(loop), arrays_in_lanes_(arrays_in_lanes) {}

  std::shared_ptr<const BatchPlan> run() {
    plan_.loop = loop_;
    plan_.counter_slot = slot(loop_.counter);
    for (int64_t pc = loop_.head; pc < loop_.next; ++pc)
      if (!take(program_.code[static_cast<size_t>(pc)])) return nullptr;
    if (!arrays_stay_arrays()) return nullptr;
    find_roles();
    if (!jumps_agree() || !stores_are_disjoint()) return nullptr;
    for (BatchStep& step : plan_.steps) step.mode = mode_of(step);
    return std::make_shared<const BatchPlan>(std::move(plan_));
  }

 private:
  uint32_t slot(uint32_t reg) {
    auto [it, fresh] = slots_.try_emplace(reg, static_cast<uint32_t>(plan_.registers.size()));
    if (fresh) {
      plan_.registers.push_back(reg);
      plan_.roles.push_back(Role::kUniform);
      plan_.outside.push_back(true);
      plan_.own.push_back(false);
    }
    return it->second;
  }
  Role& role(uint32_t slot) { return plan_.roles[slot]; }

  bool take(const Instruction& n) {
    BatchStep step{.n = n};
    bool memory = is_load(n.op) || is_store(n.op);
    const bool allocates = n.op == Op::kAlloc && arrays_in_lanes_ && is_small(n.a);
    const bool frees = n.op == Op::kFree && arrays_in_lanes_;
    if (!memory && !jumps(n.op) && !is_pure(n.op) && n.op != Op::kBatch && !allocates && !frees) return false;
    step.d = slot(n.dst), step.a = slot(n.a), step.b = slot(n.b);
    if (!memory) step.c = slot(n.c);
    bool writes = is_pure(n.op) || is_load(n.op) || n.op == Op::kLoopNext;
    if (writes || allocates) plan_.outside[step.d] = false;
    if (allocates) plan_.own[step.d] = true;
    if (jumps(n.op)) {
      if (n.extra < loop_.head || n.extra > loop_.next) return false;
      step.n.extra = n.extra - loop_.head;
      auto here = static_cast<int64_t>(plan_.steps.size());
      if (step.n.extra <= here) inner_.push_back({step.n.extra, here});
    }
    plan_.steps.push_back(step);
    return true;
  }

  bool is_small(uint32_t size) const {
    return std::any_of(program_.constants.begin(), program_.constants.end(), [&](const Constant& one) {
      return one.reg == size && one.value.i >= 0 && one.value.i <= kMostBytesOfArray;
    });
  }

  /// Whether addresses of arrays of lanes are only those of accesses, which all have elements of one size, and of
  /// frees; and whether nothing but such arrays is freed.
  bool arrays_stay_arrays() {
    std::unordered_map<uint32_t, int64_t> bytes;
    for (const BatchStep& s : plan_.steps) {
      if (s.n.op == Op::kFree && !plan_.own[s.a]) return false;
      if (is_load(s.n.op) || is_store(s.n.op)) {
        if (plan_.own[s.a] && bytes.try_emplace(s.a, s.n.dtype.bytes()).first->second != s.n.dtype.bytes())
          return false;
        if (plan_.own[s.b] || plan_.own[s.d]) return false;
      } else if (s.n.op != Op::kAlloc && s.n.op != Op::kFree && s.n.op != Op::kJump && s.n.op != Op::kBatch) {
        if (plan_.own[s.a] || plan_.own[s.b] || plan_.own[s.c] || plan_.own[s.d]) return false;
      }
    }
    return true;
  }

  Role result(const BatchStep& s) {
    if (is_load(s.n.op) && plan_.own[s.a]) return Role::kVector;
    Role a = role(s.a), b = role(s.b), most = std::max({a, b, is_load(s.n.op) ? Role::kUniform : role(s.c)});
    if (is_load(s.n.op)) return b == Role::kUniform ? Role::kUniform : Role::kVector;
    if (most == Role::kUniform) return most;
    bool sum = s.n.op == Op::kAddI || s.n.op == Op::kSubI;
    if (sum && std::max(a, b) == Role::kAffine) return Role::kAffine;
    if (s.n.op == Op::kMulI && std::max(a, b) == Role::kAffine && std::min(a, b) == Role::kUniform)
      return Role::kAffine;
    return s.n.op == Op::kMove ? a : Role::kVector;
  }

  void find_roles() {
    role(plan_.counter_slot) = Role::kAffine;
    plan_.outside[plan_.counter_slot] = false;
    for (bool changed = true; changed;) {
      changed = false;
      for (const BatchStep& s : plan_.steps) {
        if (!is_pure(s.n.op) && !is_load(s.n.op)) continue;
        Role made = std::max(role(s.d), result(s));
        changed |= made != role(s.d);
        role(s.d) = made;
      }
    }
  }

  bool in_inner_loop(size_t at) const {
    return std::any_of(inner_.begin(), inner_.end(), [&](auto range) {
      return range.first <= static_cast<int64_t>(at) && static_cast<int64_t>(at) <= range.second;
    });
  }

  bool jumps_agree() {
    bool stored = false;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const BatchStep& s = plan_.steps[i];
      stored |= is_store(s.n.op) || s.n.op == Op::kAlloc;
      bool bounded = s.n.op == Op::kJumpIfNotLess || s.n.op == Op::kLoopNext;
      if (bounded && (role(s.a) != Role::kUniform || role(s.b) != Role::kUniform)) return false;
      if (s.n.op != Op::kJumpIfZero || role(s.a) == Role::kUniform) continue;
      if (stored || in_inner_loop(i)) return false;
    }
    return true;
  }

  /// Whether no inner loop changes the value of a register.
  bool is_steady(uint32_t slot) const {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const BatchStep& s = plan_.steps[i];
      bool writes = is_pure(s.n.op) || is_load(s.n.op) || s.n.op == Op::kLoopNext;
      if (writes && s.d == slot && in_inner_loop(i)) return false;
    }
    return true;
  }

  bool stores_are_disjoint() {
    for (const BatchStep& s : plan_.steps) {
      if (!is_load(s.n.op) && !is_store(s.n.op)) continue;
      if (plan_.own[s.a]) {
        if (!plan_.outside[slot(static_cast<uint32_t>(s.n.extra))]) return false;
        continue;
      }
      if (!plan_.outside[s.a] || !plan_.outside[slot(static_cast<uint32_t>(s.n.extra))]) return false;
      plan_.accesses.push_back({s.n.a, static_cast<uint32_t>(s.n.extra), s.n.b, s.n.dtype.bytes(), is_store(s.n.op)});
    }
    bool any = false;
    for (const BatchStep& s : plan_.steps) {
      if (!is_store(s.n.op)) continue;
      any = true;
      if (plan_.own[s.a]) continue;
      if (role(s.b) != Role::kAffine) return false;
      plan_.steady = plan_.steady && is_steady(s.b);
      for (const BatchAccess& other : plan_.accesses)
        if (other.address == s.n.a && other.index != s.n.b) return false;
    }
    return any;
  }

  Mode mode_of(const BatchStep& s) {
    if (s.n.op == Op::kBatch) return Mode::kNothing;
    if (s.n.op == Op::kAlloc) return Mode::kAlloc;
    if (s.n.op == Op::kFree) return Mode::kFree;
    if (s.n.op == Op::kJumpIfZero && role(s.a) != Role::kUniform) return Mode::kBranch;
    if (jumps(s.n.op)) return Mode::kJump;
    if (is_store(s.n.op)) return Mode::kStore;
    if (is_load(s.n.op)) return role(s.d) == Role::kUniform ? Mode::kLoadOnce : Mode::kLoad;
    return role(s.d) == Role::kUniform ? Mode::kOnce : role(s.d) == Role::kAffine ? Mode::kAffine : Mode::kLanes;
  }

  const Program& program_;
  Loop loop_;
  bool arrays_in_lanes_;
  BatchPlan plan_;
  std::unordered_map<uint32_t, uint32_t> slots_;
  std::vector<std::pair<int64_t, int64_t>> inner_;  ///< first and last step of loops inside the body
};

}  // namespace

void plan_batches(Program& program, bool arrays_in_lanes) {
  for (const Loop& loop : program.loops) {
    program.plans.push_back(Planner(program, loop, arrays_in_lanes).run());
    const BatchPlan* plan = program.plans.back().get();
    // Where iterations may diverge, batches are tried again later. The Batch instruction is the one before the body.
    bool parts = plan != nullptr && std::any_of(plan->steps.begin(), plan->steps.end(),
                                                [](const BatchStep& s) { return s.mode == Mode::kBranch; });
    if (parts) program.code[static_cast<size_t>(loop.next)].extra = loop.head - 1;
  }
}

}  // namespace relaxc::tir::interpreter
