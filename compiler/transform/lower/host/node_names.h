// node_names.h: what the outside knows calls of kernels, assertions and guards by.
//
// NodeNames is the table, Origins fills it while a function is lowered: it owns the op that is being lowered, and the
// table too where the function is all that its entry runs. Uses nothing of the host function.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/relax/graph.h"
#include "compiler/support/findings.h"

namespace relaxc::lower {

/// Names by their places in an entry's table.
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

/// The op that is being lowered, as messages of the compiled program name it.
class Origins {
 public:
  /// `shared`: the table of functions that call each other; null: this function has one of its own.
  Origins(NodeNames* shared, const relax::Function& function)
      : function_(function), nodes_(shared != nullptr ? *shared : own_) {}
  Origins(const Origins&) = delete;

  /// The current op as messages name it, or the function.
  std::string here() const;
  int32_t number(const std::string& text) { return nodes_.number(text); }
  int32_t kernel(const std::string& callee) { return nodes_.kernel(callee); }
  /// For calls that may fail in themselves: where that is.
  int32_t of_call() { return nodes_.number(here()); }
  /// What was found at the current op.
  int32_t of(const Found& found) { return nodes_.number(here() + ": " + sentence(found)); }
  /// Of a call of `kernel`; -1 if nothing in it can fail.
  int32_t of_kernel(const relax::Op& op, const tir::PrimFunc& kernel);
  const NodeNames& names() const { return nodes_; }

  /// `op` is lowered while it lives.
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
