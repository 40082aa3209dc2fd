// tail_tree.h: where a function calls itself last, and what precedes those calls.
//
// The body of such a function is a tree of Ifs whose leaves call again or give the results.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc {

/// The calls of Relax functions in tail position: the last op of the body, or of a branch that is last.
std::vector<relax::Op*> tail_calls(const relax::Function& function);

class TailTree {
 public:
  TailTree(const relax::Module& module, const relax::Function& function);

  enum class Leaf : uint8_t { kCall, kTree, kExit };
  /// What the ops of a region that is in tail position end with.
  Leaf kind(const std::vector<relax::Op*>& ops) const;
  /// The calls of the function itself.
  const std::vector<const relax::Op*>& calls() const { return calls_; }
  /// Whether some path of `region` gives a result.
  bool has_exit(const relax::Region& region) const;
  /// Whether all that is before the Ifs may run once more after it ran, or gives nothing that is missed.
  bool runs_again(const relax::Region& region) const;
  /// Whether the op may run once more.
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
