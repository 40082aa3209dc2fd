// call_order.cpp: finds functions of an object that call each other in a cycle.
#include "compiler/interface/call_order.h"

#include <set>

#include "compiler/tir/visit.h"

namespace relaxc::interface {

std::vector<const tir::PrimFunc*> called_before_listed(const Object& object) {
  std::set<std::string> listed, called;
  for (const tir::PrimFunc* function : object.functions) {
    tir::for_each_stmt(function->body, [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke != nullptr && !invoke->external && listed.count(invoke->callee) == 0) called.insert(invoke->callee);
    });
    listed.insert(function->name);
  }
  std::vector<const tir::PrimFunc*> found;
  for (const tir::PrimFunc* function : object.functions)
    if (called.count(function->name) != 0) found.push_back(function);
  return found;
}

}  // namespace relaxc::interface
