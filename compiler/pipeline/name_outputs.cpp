// name_outputs.cpp: records names of outputs, before any pass can lose them.
//
// An output has the name of the value that the source program returns. Passes replace values by equal ones: removing a
// no-op cast, a decided branch or a common subexpression leaves users with another value of another name. So names are
// recorded before other passes, in an attribute of the function that lowering reads. An importer that knows better,
// since several names of a model may be one value, has set the attribute already.
#include "compiler/pipeline/name_outputs.h"

#include <set>

#include "compiler/relax/module.h"

namespace relaxc {
namespace {

using namespace relax;

/// Appends a name for each tensor of a result called `name`; fields of a tuple that is built here keep their own names.
void add_names(const Value* value, Info info, const std::string& name, std::vector<std::string>& names) {
  const auto* tuple = info == nullptr ? nullptr : info->as<TupleInfo>();
  if (tuple == nullptr) {
    names.push_back(name);
    return;
  }
  bool made_here = value != nullptr && value->op != nullptr && value->op->kind == OpKind::kTuple;
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    std::string field = name + "_" + std::to_string(i);
    const Value* inner = made_here ? value->op->operand(i) : nullptr;
    add_names(inner, tuple->fields[i], inner == nullptr || inner->name.empty() ? field : inner->name, names);
  }
}

std::vector<std::string> names_of_results(const Function& function) {
  std::vector<std::string> names;
  const std::vector<Value*>& results = function.body().results();
  for (size_t i = 0; i < results.size(); ++i) {
    std::string fallback = results.size() == 1 ? "output" : "output_" + std::to_string(i);
    add_names(results[i], results[i]->info, results[i]->name.empty() ? fallback : results[i]->name, names);
  }
  return names;
}

/// Makes names distinct: a later duplicate gets a number, and names that occur once stay.
void make_distinct(std::vector<std::string>& names) {
  const std::set<std::string> all(names.begin(), names.end());
  std::set<std::string> taken;
  for (std::string& name : names) {
    std::string made = name;
    for (int i = 1; taken.count(made) != 0 || (made != name && all.count(made) != 0); ++i)
      made = name + "_" + std::to_string(i);
    name = *taken.insert(made).first;
  }
}

}  // namespace

Result<Changed> name_outputs(Module& module, PassContext&) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) {
    if (function->is_private) continue;
    std::vector<std::string> names = names_of_results(*function);
    const std::vector<std::string>& given = function->output_names;
    for (size_t i = 0; i < given.size() && i < names.size(); ++i) names[i] = given[i];
    make_distinct(names);
    if (names == given) continue;
    function->output_names = names;
    changed = Changed::kYes;
  }
  return changed;
}

}  // namespace relaxc
