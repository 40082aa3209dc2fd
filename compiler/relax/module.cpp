// module.cpp: functions by name.
#include "compiler/relax/module.h"

#include <algorithm>

namespace relaxc::relax {
namespace {

template <typename T>
T* find(const std::vector<std::unique_ptr<T>>& list, std::string_view name) {
  auto it = std::find_if(list.begin(), list.end(), [&](const auto& item) { return item->name == name; });
  return it == list.end() ? nullptr : it->get();
}

template <typename T>
std::vector<T*> pointers(const std::vector<std::unique_ptr<T>>& list) {
  std::vector<T*> out;
  for (const auto& item : list) out.push_back(item.get());
  return out;
}

}  // namespace

std::vector<Function*> Module::functions() const {
  return pointers(functions_);
}
std::vector<tir::PrimFunc*> Module::prim_funcs() const {
  return pointers(prim_funcs_);
}
Function* Module::find_function(std::string_view name) const {
  return find(functions_, name);
}
tir::PrimFunc* Module::find_prim_func(std::string_view name) const {
  auto it = prim_func_index_.find(name);
  return it == prim_func_index_.end() ? nullptr : it->second;
}

Function* Module::add_function(std::string name) {
  RELAXC_CHECK(find_function(name) == nullptr && find_prim_func(name) == nullptr, "two functions named " + name);
  return functions_.emplace_back(std::make_unique<Function>(*context_, std::move(name))).get();
}

tir::PrimFunc* Module::add_prim_func(tir::PrimFunc function) {
  RELAXC_CHECK(find_function(function.name) == nullptr && find_prim_func(function.name) == nullptr,
               "two functions named " + function.name);
  tir::PrimFunc* added = prim_funcs_.emplace_back(std::make_unique<tir::PrimFunc>(std::move(function))).get();
  prim_func_index_[added->name] = added;
  return added;
}

void Module::remove_function(std::string_view name) {
  std::erase_if(functions_, [&](const auto& function) { return function->name == name; });
}

void Module::remove_prim_func(std::string_view name) {
  std::string key(name);
  prim_func_index_.erase(key);
  std::erase_if(prim_funcs_, [&](const auto& function) { return function->name == key; });
}

std::string Module::unique_name(std::string base) const {
  auto taken = [&](const std::string& name) {
    return find_function(name) != nullptr || find_prim_func(name) != nullptr;
  };
  if (!taken(base)) return base;
  int& next = next_suffix_[base];
  std::string name;
  do name = base + "_" + std::to_string(++next);
  while (taken(name));
  return name;
}

}  // namespace relaxc::relax
