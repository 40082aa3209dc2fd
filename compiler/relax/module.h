// module.h: a program: Relax functions and prim funcs by name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/graph.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::relax {

/// Owns the Context, the functions and the prim funcs. A name is unique among all of them. Their order is that of the
/// source, then of creation.
class Module {
 public:
  Module() : context_(std::make_unique<Context>()) {}

  Context& context() const { return *context_; }
  Sources& sources() const { return *sources_; }
  /// For Diagnostics::keep, since messages may outlive a module that failed.
  std::shared_ptr<const void> shared_sources() const { return sources_; }

  std::vector<Function*> functions() const;
  std::vector<tir::PrimFunc*> prim_funcs() const;
  Function* find_function(std::string_view name) const;
  tir::PrimFunc* find_prim_func(std::string_view name) const;

  Function* add_function(std::string name);
  tir::PrimFunc* add_prim_func(tir::PrimFunc function);
  void remove_function(std::string_view name);
  /// Removes all functions and prim funcs for whose names `gone` is true; returns true if there were any.
  bool remove_if(const std::function<bool(const std::string& name)>& gone);
  /// Returns an unused name: `base`, `base_1`, `base_2`, …
  std::string unique_name(std::string base) const;

  std::string name;  ///< the model's name in emitted symbols

 private:
  std::unique_ptr<Context> context_;
  std::shared_ptr<Sources> sources_ = std::make_shared<Sources>();
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<std::unique_ptr<tir::PrimFunc>> prim_funcs_;
  std::map<std::string, Function*, std::less<>> function_index_;
  std::map<std::string, tir::PrimFunc*, std::less<>> prim_func_index_;
  mutable std::map<std::string, int> next_suffix_;  ///< keeps unique_name linear when it gets the same base often
};

}  // namespace relaxc::relax
