// tail_call_to_loop.cpp: turns functions that call themselves or each other in tail position into loops.
//
// Each call needs a frame, and their number is not known; but a call in tail position needs nothing of its caller any
// more. So a cycle of functions that tail-call each other becomes one function with the number of the one that runs
// (merge_mutual_tail_calls.cpp), and a function that tail-calls itself becomes a loop (tail_loop.cpp). Calls in other
// places stay: their memory comes from the context's allocator (lower/host/recursion.cpp).
//
// Rejected: lowering a jump to the function's start (the planner would have to see through it), and `musttail`, which
// not every target has.
#include <map>

#include "compiler/analysis/strongly_connected_components.h"
#include "compiler/transform/graph/functions/merge_mutual_tail_calls.h"
#include "compiler/transform/graph/functions/tail_loop.h"
#include "compiler/transform/graph/functions/tail_tree.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Returns the sets of functions that all reach each other by tail calls, each set in the order of the module.
std::vector<std::vector<Function*>> mutual_tail_calls(const Module& module) {
  std::vector<Function*> functions = module.functions();
  std::map<std::string, size_t> number;
  for (size_t i = 0; i < functions.size(); ++i) number.emplace(functions[i]->name, i);
  std::vector<std::vector<size_t>> callees(functions.size());
  for (size_t i = 0; i < functions.size(); ++i)
    for (const Op* call : tail_calls(*functions[i])) callees[i].push_back(number.at(call->callee));
  std::vector<std::vector<Function*>> found;
  for (const std::vector<size_t>& members : analysis::strongly_connected_components(callees)) {
    if (members.size() < 2) continue;
    found.emplace_back();
    for (size_t member : members) found.back().push_back(functions[member]);
  }
  return found;
}

/// Replaces tail calls of `function` to itself by a loop. `names` says in a message who calls whom.
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

Result<Changed> tail_call_to_loop(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (const std::vector<Function*>& members : mutual_tail_calls(module)) {
    RELAXC_TRY(Function * made, merge_mutual_tail_calls(module, members, context));
    if (made == nullptr) continue;
    changed = Changed::kYes;
    RELAXC_TRY(Changed looped, to_loop(module, *made, names_of(members), context));
    changed |= looped;
  }
  for (Function* function : module.functions()) {
    RELAXC_TRY(Changed looped, to_loop(module, *function, "'" + function->name + "' calls itself", context));
    changed |= looped;
  }
  return changed;
}

}  // namespace relaxc
