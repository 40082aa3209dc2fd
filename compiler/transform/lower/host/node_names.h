// node_names.h: names of calls of kernels, assertions and guards in messages and traces.
//
// NodeNames is the table; Origins fills it while a function is lowered. Origins owns the current op, and the table if
// the function's entry runs no other function. Uses no other part of the host function.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/relax/graph.h"
#include "compiler/support/findings.h"

namespace relaxc::lower {

/// Distinct names, each with its index in an entry's table.
class NodeNames {
 public:
  int32_t number(const std::string& name) {
    auto [known, fresh] = numbers_.emplace(name, static_cast<int32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return known->second;
  }
  int32_t kernel(const std::string& name) {
    kernels_.insert(name);
    return number(name);
  }
  const std::vector<std::string>& names() const { return names_; }
  size_t num_kernels() const { return kernels_.size(); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t> numbers_;
  std::set<std::string> kernels_;
};

/// The op that is being lowered, and its name in messages of the compiled program.
class Origins {
 public:
  /// `shared`: the table of functions that call others or are called; null: this function has its own.
  Origins(NodeNames* shared, const relax::Function& function)
      : function_(function), nodes_(shared != nullptr ? *shared : own_) {}
  Origins(const Origins&) = delete;

  /// Returns the name of the current op in messages, or of the function if there is none.
  std::string here() const;
  int32_t number(const std::string& text) { return nodes_.number(text); }
  int32_t kernel(const std::string& callee) { return nodes_.kernel(callee); }
  /// Returns the index of the current op's name, for a call that may itself fail.
  int32_t of_call() { return nodes_.number(here()); }
  /// Returns the index of the current op's name with the finding.
  int32_t of(const Found& found) { return nodes_.number(here() + ": " + sentence(found)); }
  /// Returns the index of a name for a call of `kernel`; -1 if the kernel has no guards.
  int32_t of_kernel(const relax::Op& op, const tir::PrimFunc& kernel);
  const NodeNames& names() const { return nodes_; }

  /// Makes `op` the current op for its lifetime.
  class Current {
   public:
    Current(Origins& origins, const relax::Op& op) : origins_(origins), around_(std::exchange(origins.op_, &op)) {}
    Current(const Current&) = delete;
    ~Current() { origins_.op_ = around_; }

   private:
    Origins& origins_;
    const relax::Op* around_;
  };

 private:
  const relax::Function& function_;
  NodeNames own_;
  NodeNames& nodes_;
  const relax::Op* op_ = nullptr;
};

}  // namespace relaxc::lower
