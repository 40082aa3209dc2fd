// match_external_patterns.cpp: calls functions of libraries for the subgraphs that they compute (--external-patterns).
//
// The problem: a user with a library of kernels for a machine wants some groups of operators computed by it, without
// changing the compiler. TVM calls this "bring your own codegen".
//
// The method: rows of patterns (graph/external/pattern_file.h) are tried in their order. For each row all matches are
// collected first, and the larger ones taken first, so that a relu becomes part of a call wherever the row allows it.
// No op is in two matches, and no inner value of a match has a reader outside (op_pattern.h). Operators are pure, so
// the call replaces the last of them; a match that crosses into a branch or a loop would move work there, and is
// refused. The call gets the requirements on sizes that the operators had.
//
// The pass runs before operators are expanded or rewritten for kernels: a pattern is written in terms of the program.
//
// Rejected: matching by the best cost over all rows, as there is no cost of functions that relaxc does not know.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/relax/origin_text.h"
#include "compiler/transform/graph/external/external_call.h"
#include "compiler/transform/graph/rewriting/origins.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Matches one row in one function.
class Matching {
 public:
  Matching(Module& module, Function& function, PassContext& context, std::unordered_set<const Op*>& taken)
      : module_(module), function_(function), context_(context), taken_(taken) {}

  size_t run(const ExternalPattern& row) {
    std::vector<Found> all;
    for (Op* op : ops_of(function_.body(), true)) {
      if (op->kind != OpKind::kOperator || op->results.size() != 1 || op->result()->unused()) continue;
      if (op->result()->info->as<TensorInfo>() != nullptr) find(row, *op, all);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Found& a, const Found& b) { return a.ops.size() > b.ops.size(); });
    size_t calls = 0;
    for (Found& found : all) {
      if (std::any_of(found.ops.begin(), found.ops.end(), [&](const Op* op) { return taken_.count(op) != 0; }))
        continue;
      replace(row, found);
      ++calls;
    }
    return calls;
  }

  /// Returns why a group of operators with the row's form does not match; empty if there was no such group.
  const std::string& refusal() const { return refusal_; }

 private:
  struct Found {
    Op* root;
    std::unordered_set<const Op*> ops;
    PatternMatch match;
    ExternalCallPlan plan;

    /// Returns each operator once, in the order of the program.
    std::vector<const Op*> ops_in_order() const {
      std::vector<const Op*> all(ops.begin(), ops.end());
      std::sort(all.begin(), all.end(), [](const Op* a, const Op* b) { return a->id < b->id; });
      return all;
    }
  };

  void find(const ExternalPattern& row, Op& root, std::vector<Found>& all) {
    std::optional<ExternalCallPlan> plan;
    auto accept = [&](const PatternMatch& match) {
      if (!together(match, root)) return false;
      auto planned = plan_external_call(row, match, *root.result(), function_.facts);
      if (const auto* why = std::get_if<std::string>(&planned)) {
        if (refusal_.empty()) refusal_ = fmt::format("{}: {}", origin_text(root), *why);
        return false;
      }
      plan = std::get<ExternalCallPlan>(std::move(planned));
      return true;
    };
    std::optional<PatternMatch> match = largest_match(*row.pattern, *root.result(), accept);
    if (!match) return;
    std::unordered_set<const Op*> ops(match->ops.begin(), match->ops.end());
    all.push_back({&root, std::move(ops), std::move(*match), std::move(*plan)});
  }

  /// Returns whether the operators are pure ones of the root's region that no other match has taken.
  bool together(const PatternMatch& match, const Op& root) const {
    return std::all_of(match.ops.begin(), match.ops.end(), [&](const Op* op) {
      return op->def->pure && op->binds.empty() && op->results.size() == 1 && taken_.count(op) == 0 &&
             op->block->parent == root.block->parent;
    });
  }

  void replace(const ExternalPattern& row, Found& found) {
    GraphBuilder builder(module_, context_.ops, found.root, context_.diag);
    builder.location = found.root->location;
    for (ExternalArgument& argument : found.plan.arguments)  // an earlier call may have replaced it
      if (auto* value = std::get_if<Value*>(&argument.what))
        while (replaced_.count(*value) != 0) *value = replaced_.at(*value);
    Value* old = found.root->result();
    MadeCall made = make_external_call(row, found.plan, *old, builder);
    mark_origins(*made.call->result(), found.match.ops);
    for (const Op* op : found.ops_in_order())
      made.call->requirements.insert(made.call->requirements.end(), op->requirements.begin(), op->requirements.end());
    old->replace_all_uses_with(made.result);
    replaced_[old] = made.result;
    taken_.insert(found.ops.begin(), found.ops.end());
  }

  Module& module_;
  Function& function_;
  PassContext& context_;
  std::unordered_set<const Op*>& taken_;
  std::unordered_map<const Value*, Value*> replaced_;
  std::string refusal_;
};

}  // namespace

Result<Changed> match_external_patterns(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  if (context.external_patterns == nullptr) return changed;
  std::unordered_set<const Op*> taken;
  for (const ExternalPattern& row : context.external_patterns->rows) {
    if (!row.pattern) continue;
    size_t calls = 0;
    std::string refusal;
    for (Function* function : module.functions()) {
      Matching matching(module, *function, context, taken);
      calls += matching.run(row);
      if (refusal.empty()) refusal = matching.refusal();
    }
    if (calls > 0) changed = Changed::kYes;
    if (calls == 0 && context.remark)
      context.remark(
          fmt::format("the external pattern '{}' matches nothing{}{}", row.name, refusal.empty() ? "" : "; ", refusal));
  }
  return changed;
}

}  // namespace relaxc
