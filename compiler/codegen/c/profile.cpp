// profile.cpp: checks whether an object can be written under a profile.
//
// A construct that a profile forbids is refused with its location, not replaced by an equivalent one: whoever certifies
// the text wants to read the loops of the model.
#include "compiler/codegen/c/profile.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "compiler/interface/call_order.h"
#include "compiler/interface/typed_call.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {
namespace {

/// Says what a statement does that no MISRA program may do; empty if it does no such thing.
std::string obstacle(tir::Stmt s) {
  if (s.as<tir::While>() != nullptr) return "has a loop without a trip count";
  if (s.as<tir::Break>() != nullptr || s.as<tir::Continue>() != nullptr) return "leaves a loop early";
  if (const auto* invoke = s.as<tir::Invoke>(); invoke != nullptr && invoke->external)
    return fmt::format("calls '{}', which is not part of it", invoke->callee);
  const auto* loop = s.as<tir::For>();
  if (loop != nullptr && (loop->min.constant() == nullptr || loop->extent.constant() == nullptr))
    return fmt::format("has a loop over '{}' whose bounds are not constants", loop->var.name());
  return {};
}

}  // namespace

std::vector<const tir::PrimFunc*> called_functions(const interface::Object& object, Profile profile) {
  std::map<std::string, const tir::PrimFunc*, std::less<>> by_name;
  for (const tir::PrimFunc* function : object.functions) by_name[function->name] = function;
  std::set<std::string> seen;
  std::vector<std::string> waiting;
  for (const interface::Entry& entry : object.entries) {
    waiting.push_back(entry.call);
    if (profile == Profile::kMisra) continue;  // all sizes are constants
    bool dynamic = !interface::is_static(entry);
    if (dynamic || !entry.symbols.empty() || interface::has_derived_dims(entry)) waiting.push_back(entry.shapes);
    if (dynamic) waiting.push_back(entry.arena);
    waiting.push_back(entry.values);
  }
  for (const interface::PublicPrimFunc& function : object.public_prim_funcs) {
    waiting.push_back(function.callee());
    waiting.push_back(function.arena);
  }
  while (!waiting.empty()) {
    std::string name = std::move(waiting.back());
    waiting.pop_back();
    auto known = by_name.find(name);
    if (known == by_name.end() || !seen.insert(name).second) continue;
    tir::for_each_stmt(known->second->body, [&](tir::Stmt s) {
      if (const auto* invoke = s.as<tir::Invoke>()) waiting.push_back(invoke->callee);
    });
  }
  std::vector<const tir::PrimFunc*> out;
  for (const tir::PrimFunc* function : object.functions)
    if (seen.count(function->name) != 0) out.push_back(function);
  return out;
}

std::string misra_obstacle(const interface::Object& object) {
  for (const interface::Entry& entry : object.entries) {
    if (!entry.symbols.empty()) return fmt::format("'{}' has dims that are not fixed; --dim fixes them", entry.name);
    if (entry.needs_allocator) return fmt::format("'{}' has memory without a bound", entry.name);
    for (const interface::Tensor& output : entry.outputs)
      if (output.data_dependent) return fmt::format("the size of '{}' is found in the data", output.name);
  }
  if (object.hooks.trace || object.hooks.poll) return "context.trace and context.poll are pointers to functions";
  if (!object.selftest.data.empty()) return "a self-test calls the model by its tables";
  if (!interface::called_before_listed(object).empty()) return "functions of the program call themselves";
  for (const tir::PrimFunc* function : called_functions(object, Profile::kMisra)) {
    std::string found;
    tir::for_each_stmt(function->body, [&](tir::Stmt s) {
      if (found.empty()) found = obstacle(s);
    });
    if (!found.empty()) return fmt::format("kernel '{}' {}", function->name, found);
  }
  return {};
}

}  // namespace relaxc::codegen_c
