// merged_parameters.h: the common parameters of functions that tail-call each other.
#pragma once

#include <map>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc {

/// The parameters of one function that does the work of several. Parameters of different members share a slot if they
/// have one kind, dtype and rank. A symbol that every call in the cycle passes on unchanged is one symbol of the new
/// function; any other number is a symbol of its slot.
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
  /// Maps symbols of members that never change to those of the new function.
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
