// operator_budget.cpp: see operator_budget.h.
#include "frontends/tflite/operator_budget.h"

#include <algorithm>
#include <string>
#include <vector>

namespace relaxc::tflite {

namespace {

constexpr int64_t kManyOperators = 1'000'000'000'000'000;  ///< counts saturate here

/// The subgraphs that an operator calls.
std::vector<int64_t> called_by(const Operator& op) {
  if (const auto* o = op.raw->builtin_options_as<tflite_schema::IfOptions>())
    return {o->then_subgraph_index(), o->else_subgraph_index()};
  if (const auto* o = op.raw->builtin_options_as<tflite_schema::WhileOptions>())
    return {o->cond_subgraph_index(), o->body_subgraph_index()};
  if (const auto* o = op.raw->builtin_options_as<tflite_schema::CallOnceOptions>()) return {o->init_subgraph_index()};
  return {};
}

}  // namespace

bool OperatorBudget::take(Location where) {
  return ++converted_ <= most_ || refuse(0, where);
}

bool OperatorBudget::allows(int64_t subgraph, Location where) {
  if (stopped_) return false;
  const int64_t operators = size_of(subgraph);
  return operators <= most_ - converted_ || refuse(operators, where);
}

bool OperatorBudget::refuse(int64_t operators, Location where) {
  if (stopped_) return false;
  stopped_ = true;
  diag.error(where, Kind::unsupported,
             "with this call, the model comes to {} operators, and the budget (--max-nodes) is {}; subgraphs count as "
             "often as they are called",
             operators >= kManyOperators ? "10^15 or more" : std::to_string(converted_ + operators), most_);
  return false;
}

int64_t OperatorBudget::size_of(const Operator& op) {
  int64_t operators = 1;
  for (const int64_t called : called_by(op)) operators = std::min(operators + size_of(called), kManyOperators);
  return operators;
}

/// Counts each subgraph once. One that calls itself counts as 0 here; its conversion reports the error, as it does for
/// one that there is not.
int64_t OperatorBudget::size_of(int64_t subgraph) {
  if (subgraph < 0 || subgraph >= static_cast<int64_t>(model_.subgraphs.size())) return 0;
  auto [found, fresh] = sizes_.try_emplace(subgraph, 0);
  if (!fresh) return found->second;
  int64_t operators = 0;
  for (const Operator& op : model_.subgraphs[static_cast<size_t>(subgraph)].operators)
    operators = std::min(operators + size_of(op), kManyOperators);
  return sizes_[subgraph] = operators;
}

}  // namespace relaxc::tflite
