// merged_parameters.h: the parameters that functions which call each other last have together.
#pragma once

#include <map>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc {

/// What one function that does the work of several carries. Parameters of different members share a slot where they
/// are of one kind, dtype and rank. A symbol that every call in the cycle hands on as it is, is one symbol of the new
/// function; what is counted or computed anew is one in each slot.
class MergedParameters {
 public:
  MergedParameters(relax::Module& module, const std::vector<relax::Function*>& members);

  struct ParameterSlot {
    relax::Info info = nullptr;
    std::string name;
    std::vector<arith::Var> open;  ///< its own symbols: numbers that calls change
  };
  const std::vector<ParameterSlot>& slots() const { return slots_; }
  /// The slots of the leaves of a member's parameters, in order.
  const std::vector<size_t>& of(const relax::Function& member) const { return places_.at(&member); }
  /// The symbol of the new function for one of a member that never changes.
  const arith::Substitution& kept() const { return kept_; }

 private:
  void find_kept(const std::vector<relax::Function*>& members);
  void place(const relax::Function& member);
  bool fits(const ParameterSlot& slot, relax::Info leaf) const;
  ParameterSlot slot_for(relax::Info leaf, const std::string& name) const;
  relax::Expr closed(const relax::Expr& number) const;

  relax::Context& context_;
  arith::Substitution kept_;
  std::vector<ParameterSlot> slots_;
  std::map<const relax::Function*, std::vector<size_t>> places_;
};

}  // namespace relaxc
