// list_functions.cpp: the functions that the object will hold, each after all that it calls.
//
// The order is that of a depth-first walk from the entry points in the order of the module, so it depends on the input
// alone. What no entry point reaches is left out.
#include <set>

#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

class Listing {
 public:
  Listing(const relax::Module& module, std::vector<const tir::PrimFunc*>& out) : module_(module), out_(out) {}

  void add(const std::string& name) {
    const tir::PrimFunc* function = name.empty() ? nullptr : module_.find_prim_func(name);
    if (function == nullptr || !seen_.insert(name).second) return;
    tir::for_each_stmt(function->body, [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke != nullptr && !invoke->external) add(invoke->callee);
    });
    out_.push_back(function);
  }

 private:
  const relax::Module& module_;
  std::vector<const tir::PrimFunc*>& out_;
  std::set<std::string> seen_;
};

}  // namespace

Result<Changed> list_functions(relax::Module& module, PassContext& context) {
  RELAXC_CHECK(context.object != nullptr, "there is no object to list functions for");
  interface::Object& object = *context.object;
  object.functions.clear();
  Listing listing(module, object.functions);
  for (const interface::PublicPrimFunc& function : object.public_prim_funcs) {
    listing.add(function.callee());
    listing.add(function.arena);
  }
  for (const interface::Entry& entry : object.entries)
    for (const std::string* name : {&entry.shapes, &entry.arena, &entry.values, &entry.call}) listing.add(*name);
  return Changed::kNo;
}

}  // namespace relaxc
