// copy.h: copies of ops and of whole functions.
#pragma once

#include <map>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// Copies ops to the end of a block of the same or another function, with other values and symbols in place of some.
/// What a copy binds is a new symbol.
class Copy {
 public:
  Copy(Function& function, Block* to) : function_(function), to_(to) {}

  std::map<const Value*, Value*> values;
  arith::Substitution symbols;
  arith::Substitution bind_as;  ///< what a copied op binds, under another name; a new symbol where there is none

  Value* of(Value* value) const {
    auto it = values.find(value);
    return it == values.end() ? value : it->second;
  }
  Info of(Info info) const { return substitute(function_.context(), info, symbols); }

  void op(const Op& from) { copy(from, to_); }
  void move_to(Block* to) { to_ = to; }
  /// Arguments, blocks and results of `from`, added to those of `to`.
  void region(const Region& from, Region* to);

 private:
  void copy(const Op& from, Block* to);

  Function& function_;
  Block* to_;
};

/// A private copy of `function` under a new name. Its parameters keep their symbols.
Function* copy_function(Module& module, const Function& function, std::string name);

/// Takes blocks that belong to no region any more apart, so that no value is used by them.
void discard(const std::vector<Block*>& blocks);

}  // namespace relaxc::relax
