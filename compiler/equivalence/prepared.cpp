// prepared.cpp: see prepared.h.
#include "compiler/equivalence/prepared.h"

#include <algorithm>
#include <map>

namespace relaxc::equivalence {
namespace {

void add_names(const std::string& name, relax::Info info, std::vector<std::string>& names) {
  const auto* tuple = info->as<relax::TupleInfo>();
  if (tuple == nullptr) return names.push_back(name);
  for (size_t i = 0; i < tuple->fields.size(); ++i) add_names(name + "_" + std::to_string(i), tuple->fields[i], names);
}

std::vector<std::string> names_of(const std::vector<interface::Tensor>& tensors) {
  std::vector<std::string> names;
  for (const interface::Tensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

const interface::Entry* entry_of(const interface::Object& object, const std::string& name) {
  auto found = std::find_if(object.entries.begin(), object.entries.end(),
                            [&](const interface::Entry& entry) { return entry.name == name; });
  return found == object.entries.end() ? nullptr : &*found;
}

std::vector<std::string> output_names(const relax::Module& module, const interface::Object& object,
                                      const std::string& name) {
  if (const relax::Function* function = module.find_function(name)) return function->output_names;
  const interface::Entry* entry = entry_of(object, name);
  return entry == nullptr ? std::vector<std::string>() : names_of(entry->outputs);
}

}  // namespace

std::vector<std::string> input_names(const relax::Module& module, const interface::Object& object,
                                     const std::string& name) {
  std::vector<std::string> names;
  if (const relax::Function* function = module.find_function(name)) {
    for (const relax::Value* argument : function->body().arguments) add_names(argument->name, argument->info, names);
    return names;
  }
  const interface::Entry* entry = entry_of(object, name);
  return entry == nullptr ? names : names_of(entry->inputs);
}

Outcome run_prepared(const relax::Module& module, const interface::Object& object, const std::string& function,
                     const std::vector<std::string>& names, const std::vector<HostTensor>& inputs,
                     const RunFunction& run) {
  const std::string prepare = function + "_prepare";
  const std::vector<std::string> wanted = input_names(module, object, function);
  const std::vector<std::string> results = output_names(module, object, prepare);
  if (wanted == names || results.empty()) return run(function, inputs);
  std::map<std::string, HostTensor> known;
  for (size_t i = 0; i < names.size() && i < inputs.size(); ++i) known.emplace(names[i], inputs[i]);
  auto arguments = [&](const std::vector<std::string>& of) {
    std::vector<HostTensor> given;
    for (const std::string& name : of) given.push_back(known[name]);
    return given;
  };
  Outcome prepared = run(prepare, arguments(input_names(module, object, prepare)));
  const auto* made = std::get_if<std::vector<HostTensor>>(&prepared);
  if (made == nullptr) return prepared;
  for (size_t i = 0; i < results.size() && i < made->size(); ++i) known[results[i]] = (*made)[i];
  return run(function, arguments(wanted));
}

}  // namespace relaxc::equivalence
