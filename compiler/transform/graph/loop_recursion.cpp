// loop_recursion.cpp: functions that call themselves or each other last become loops.
//
// Each call needs a frame, and how many there will be nobody knows; but a call in tail position needs nothing of its
// caller any more. So a circle of functions that call each other last becomes one function with the number of the one
// that runs (dispatch.cpp), and a function that calls itself last becomes a loop (tail_loop.cpp). Calls in other places
// stay: what they need comes from the context's allocator (lower/host_recursion.cpp).
//
// Rejected: lowering a jump to the function's begin (the planner would have to see through it), and `musttail`, which
// not every target has.
#include <algorithm>
#include <map>

#include "compiler/transform/graph/dispatch.h"
#include "compiler/transform/graph/tail_loop.h"
#include "compiler/transform/graph/tail_tree.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Functions that call each other in tail position, all of them from all (Tarjan 1972, with a stack of its own).
class Circles {
 public:
  explicit Circles(const Module& module) : functions_(module.functions()), state_(functions_.size()) {
    for (size_t i = 0; i < functions_.size(); ++i) number_.emplace(functions_[i]->name, i);
    for (size_t i = 0; i < functions_.size(); ++i)
      if (state_[i].entered == 0) visit(i);
  }
  /// Those with more than one member, each in the order of the module.
  const std::vector<std::vector<Function*>>& all() const { return found_; }

 private:
  struct State {
    size_t entered = 0, lowest = 0;  ///< 0: not yet
    bool open = false;               ///< on the stack
    size_t next = 0;
    std::vector<size_t> callees;
  };
  void visit(size_t root) {
    std::vector<size_t> path = {root};
    while (!path.empty()) {
      State& at = state_[path.back()];
      if (at.entered == 0) enter(path.back());
      if (at.next < at.callees.size()) {
        const State& callee = state_[at.callees[at.next]];
        if (callee.entered == 0) {
          path.push_back(at.callees[at.next]);
          continue;
        }
        if (callee.open) at.lowest = std::min(at.lowest, callee.lowest);
        ++at.next;
        continue;
      }
      if (at.lowest == at.entered) leave(path.back());
      path.pop_back();
    }
  }
  void enter(size_t index) {
    State& at = state_[index];
    at.entered = at.lowest = ++count_;
    at.open = true;
    stack_.push_back(index);
    for (const Op* call : tail_calls(*functions_[index])) at.callees.push_back(number_.at(call->callee));
  }
  void leave(size_t root) {
    std::vector<size_t> members;
    do {
      members.push_back(stack_.back());
      state_[stack_.back()].open = false;
      stack_.pop_back();
    } while (members.back() != root);
    if (members.size() < 2) return;
    std::sort(members.begin(), members.end());
    std::vector<Function*>& circle = found_.emplace_back();
    for (size_t member : members) circle.push_back(functions_[member]);
  }

  std::vector<Function*> functions_;
  std::map<std::string, size_t> number_;
  std::vector<State> state_;
  std::vector<size_t> stack_;
  size_t count_ = 0;
  std::vector<std::vector<Function*>> found_;
};

/// Calls of `function` by itself in tail position become a loop. `names`: whom a message names.
Result<Changed> to_loop(Module& module, Function& function, const std::string& names, PassContext& context) {
  Diagnostics& diag = context.diag;
  if (!TailTree(module, function).has_exit(function.body()))
    return diag.error(function.location, Kind::ill_formed, "{} on every path, so it never returns", names);
  return make_tail_loop(module, function, context);
}

std::string names_of(const std::vector<Function*>& members) {
  std::string names = "'" + members[0]->name + "' calls ";
  for (size_t i = 1; i < members.size(); ++i) names += "'" + members[i]->name + "', which calls ";
  return names + "it again";
}

}  // namespace

Result<Changed> loop_recursion(relax::Module& module, PassContext& context) {
  Diagnostics& diag = context.diag;
  Changed changed = Changed::kNo;
  const Circles circles(module);
  for (const std::vector<Function*>& members : circles.all()) {
    RELAXC_TRY(Function * made, make_dispatch(module, members, context));
    if (made == nullptr) continue;
    changed = Changed::kYes;
    RELAXC_TRY(Changed looped, to_loop(module, *made, names_of(members), context));
    changed |= looped;
  }
  for (Function* function : module.functions()) {
    RELAXC_TRY(Changed looped, to_loop(module, *function, "'" + function->name + "' calls itself", context));
    changed |= looped;
  }
  return changed == Changed::kYes ? dead_code(module, context) : changed;
}

}  // namespace relaxc
