// index_parameters.h: finds the integer parameters that are extents.
//
// The text has one type for extents and for numbers in arithmetic: T.int64. The body shows which of the two a
// parameter is, so a function is first read with its integers as numbers, and again if some are used as
// extents.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/arith/visit.h"

namespace relaxc::frontend {

class IndexParameters {
 public:
  /// `known`: parameters that an earlier reading found to be extents.
  explicit IndexParameters(const std::set<std::string>& known) : known_(known) {}

  bool is_known(const std::string& name) const { return known_.count(name) != 0; }
  /// Adds a parameter that is read as a number.
  void add_number(arith::Var var, const std::string& name) { numbers_.emplace(var->id, name); }
  /// Must be called with every integer that is used as an index.
  void use(arith::Expr e) {
    for (arith::Var var : arith::free_vars(e))
      if (auto number = numbers_.find(var->id); number != numbers_.end()) used_.insert(number->second);
  }
  /// Returns the numbers that the body uses as extents, offsets or subscripts.
  const std::set<std::string>& used() const { return used_; }

 private:
  const std::set<std::string>& known_;
  std::map<uint32_t, std::string> numbers_;  ///< by the variable's id
  std::set<std::string> used_;
};

}  // namespace relaxc::frontend
