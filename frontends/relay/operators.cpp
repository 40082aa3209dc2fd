// operators.cpp: reads a call of an operator by the operator's row.
#include "frontends/relay/operators.h"

#include <algorithm>

#include "compiler/support/suggest.h"

namespace relaxc::relay {
namespace {

using frontend::FunctionParts;

Failure unknown_operator(FunctionParts& fn, const OperatorTable& table, const std::string& name,
                         frontend::Place place) {
  Failure failure = fn.source.error(place, Kind::unknown_operator, "there is no operator '{}'", name);
  std::vector<std::string> names;
  for (const Row* row : table.all()) names.emplace_back(row->name);
  if (auto near = nearest_path(name, names)) fn.source.hint("did you mean '{}'?", *near);
  return failure;
}

Result<Term> read_call(FunctionParts& fn, const std::string& name, const frontend::ast::Expr& e) {
  static const OperatorTable table = operator_table();
  const Row* row = table.find(name);
  if (row == nullptr) return unknown_operator(fn, table, name, e.items[0]->place);
  TvmCall call(fn, std::string(row->target.empty() ? row->name : row->target), name, e);
  RELAXC_DO(call.bind(row->params));
  if (row->read != nullptr) return row->read(call);
  const frontend::TvmOperator* known = frontend::find_tvm_operator(row->target);
  return known != nullptr ? known->read(call) : call.own();
}

}  // namespace

const frontend::Dialect kDialect = {"relay.", "astext(show_meta_data=True)", read_call};

OperatorTable::OperatorTable(std::vector<std::span<const Row>> families) {
  for (std::span<const Row> family : families)
    for (const Row& row : family) rows_.push_back(&row);
  std::sort(rows_.begin(), rows_.end(), [](const Row* a, const Row* b) { return a->name < b->name; });
  for (size_t i = 1; i < rows_.size(); ++i)
    RELAXC_CHECK(rows_[i - 1]->name != rows_[i]->name, "two rows of " + std::string(rows_[i]->name));
}

const Row* OperatorTable::find(std::string_view name) const {
  auto it = std::lower_bound(rows_.begin(), rows_.end(), name,
                             [](const Row* row, std::string_view n) { return row->name < n; });
  return it == rows_.end() || (*it)->name != name ? nullptr : *it;
}

}  // namespace relaxc::relay
