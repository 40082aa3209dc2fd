// copy.h: copies ops and functions.
#pragma once

#include <map>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// Copies ops to the end of a block of the same or another function, replacing values and symbols. Symbols that a
/// copied op binds become new ones.
class Copy {
 public:
  Copy(Function& function, Block* to) : function_(function), to_(to) {}

  std::map<const Value*, Value*> values;
  arith::Substitution symbols;
  arith::Substitution bind_as;  ///< symbols to use for those that copied ops bind; others become new symbols

  Value* of(Value* value) const {
    auto it = values.find(value);
    return it == values.end() ? value : it->second;
  }
  Info of(Info info) const { return substitute(function_.context(), info, symbols); }

  void op(const Op& from) { copy(from, to_); }
  void move_to(Block* to) { to_ = to; }
  /// Copies the arguments, blocks and results of `from` to the end of those of `to`.
  void region(const Region& from, Region* to);

 private:
  void copy(const Op& from, Block* to);

  Function& function_;
  Block* to_;
};

/// Adds a private copy of `function` under a new name. Its parameters have the same symbols.
Function* copy_function(Module& module, const Function& function, std::string name);

/// Drops the operands of all ops in blocks that are no longer in a region, so that they use no value.
void discard(const std::vector<Block*>& blocks);

}  // namespace relaxc::relax
