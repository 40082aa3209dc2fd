// index_parameters.h: which integer parameters are extents.
//
// The text has one type for an extent and for a number that is computed with: T.int64. Which of the two a parameter is
// shows in the body, so a function is read with its integers as numbers first, and again if some turn out to be
// extents.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/arith/visit.h"

namespace relaxc::frontend {

class IndexParameters {
 public:
  /// `known`: those that an earlier reading found.
  explicit IndexParameters(const std::set<std::string>& known) : known_(known) {}

  bool is_known(const std::string& name) const { return known_.count(name) != 0; }
  /// A parameter that is read as a number.
  void add_number(arith::Var var, const std::string& name) { numbers_.emplace(var->id, name); }
  /// Called with every integer that is where an index belongs.
  void use(arith::Expr e) {
    for (arith::Var var : arith::free_vars(e))
      if (auto number = numbers_.find(var->id); number != numbers_.end()) used_.insert(number->second);
  }
  /// The numbers that the body has used as extents, offsets or subscripts.
  const std::set<std::string>& used() const { return used_; }

 private:
  const std::set<std::string>& known_;
  std::map<uint32_t, std::string> numbers_;  ///< by the variable's id
  std::set<std::string> used_;
};

}  // namespace relaxc::frontend
