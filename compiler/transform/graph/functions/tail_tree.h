// tail_tree.h: the calls of a function by itself in tail position, and what precedes them.
//
// The body of such a function is a tree of Ifs whose leaves call it again or return the results.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc {

/// Returns the calls of Relax functions in tail position: the last op of the body, or of a branch that is last.
std::vector<relax::Op*> tail_calls(const relax::Function& function);

class TailTree {
 public:
  TailTree(const relax::Module& module, const relax::Function& function);

  enum class Leaf : uint8_t { kCall, kTree, kExit };
  /// Returns what the ops of a region in tail position end with.
  Leaf kind(const std::vector<relax::Op*>& ops) const;
  /// The calls of the function by itself.
  const std::vector<const relax::Op*>& calls() const { return calls_; }
  /// Whether some path of `region` returns a result.
  bool has_exit(const relax::Region& region) const;
  /// Whether all ops before the Ifs can run a second time, or have no results that a second run would need.
  bool runs_again(const relax::Region& region) const;
  /// Whether the op can run a second time without an effect.
  bool is_pure(const relax::Op& op) const;

 private:
  void find_trees(const relax::Region& region);
  bool has_call(const relax::Region& region) const;
  bool is_pure(const std::string& function, std::set<std::string>& seen) const;
  bool is_pure(const relax::Op& op, std::set<std::string>& seen) const;

  const relax::Module& module_;
  const relax::Function& function_;
  std::vector<const relax::Op*> calls_;
  std::set<const relax::Op*> call_set_, trees_;
};

}  // namespace relaxc
