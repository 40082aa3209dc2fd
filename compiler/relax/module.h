// module.h: a program: Relax functions and prim funcs, by name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/graph.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::relax {

/// Owns the Context, the functions and the prim funcs. Names are unique over both. Order is the order of the source,
/// then of creation.
class Module {
 public:
  Module() : context_(std::make_unique<Context>()) {}

  Context& context() const { return *context_; }
  Sources& sources() const { return *sources_; }
  /// For Diagnostics::keep: messages may outlive a module that failed.
  std::shared_ptr<const void> shared_sources() const { return sources_; }

  std::vector<Function*> functions() const;
  std::vector<tir::PrimFunc*> prim_funcs() const;
  Function* find_function(std::string_view name) const;
  tir::PrimFunc* find_prim_func(std::string_view name) const;

  Function* add_function(std::string name);
  tir::PrimFunc* add_prim_func(tir::PrimFunc function);
  void remove_function(std::string_view name);
  /// Removes all functions and prim funcs for whose names `gone` holds, in one walk; true if there were any.
  bool remove_if(const std::function<bool(const std::string& name)>& gone);
  /// `base`, or `base_1`, `base_2`, …: a name that nothing in the module has.
  std::string unique_name(std::string base) const;

  std::string name;  ///< the model's name in emitted symbols

 private:
  std::unique_ptr<Context> context_;
  std::shared_ptr<Sources> sources_ = std::make_shared<Sources>();
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<std::unique_ptr<tir::PrimFunc>> prim_funcs_;
  std::map<std::string, Function*, std::less<>> function_index_;
  std::map<std::string, tir::PrimFunc*, std::less<>> prim_func_index_;
  mutable std::map<std::string, int> next_suffix_;  ///< keeps unique_name linear when one base is asked for often
};

}  // namespace relaxc::relax
