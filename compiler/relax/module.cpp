// module.cpp: stores functions by name.
#include "compiler/relax/module.h"

#include <algorithm>

namespace relaxc::relax {
namespace {

template <typename T>
T* find(const std::map<std::string, T*, std::less<>>& index, std::string_view name) {
  auto it = index.find(name);
  return it == index.end() ? nullptr : it->second;
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
  return find(function_index_, name);
}
tir::PrimFunc* Module::find_prim_func(std::string_view name) const {
  return find(prim_func_index_, name);
}

Function* Module::add_function(std::string name) {
  RELAXC_CHECK(find_function(name) == nullptr && find_prim_func(name) == nullptr, "two functions named " + name);
  Function* added = functions_.emplace_back(std::make_unique<Function>(*context_, std::move(name))).get();
  function_index_[added->name] = added;
  return added;
}

tir::PrimFunc* Module::add_prim_func(tir::PrimFunc function) {
  RELAXC_CHECK(find_function(function.name) == nullptr && find_prim_func(function.name) == nullptr,
               "two functions named " + function.name);
  tir::PrimFunc* added = prim_funcs_.emplace_back(std::make_unique<tir::PrimFunc>(std::move(function))).get();
  prim_func_index_[added->name] = added;
  return added;
}

void Module::remove_function(std::string_view name) {
  std::string key(name);
  function_index_.erase(key);
  std::erase_if(functions_, [&](const auto& function) { return function->name == key; });
}

bool Module::remove_if(const std::function<bool(const std::string& name)>& gone) {
  size_t before = functions_.size() + prim_funcs_.size();
  auto leave = [&](const auto& entry) { return gone(entry.first); };
  std::erase_if(function_index_, leave);
  std::erase_if(prim_func_index_, leave);
  std::erase_if(functions_, [&](const auto& function) { return function_index_.count(function->name) == 0; });
  std::erase_if(prim_funcs_, [&](const auto& function) { return prim_func_index_.count(function->name) == 0; });
  return functions_.size() + prim_funcs_.size() != before;
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
