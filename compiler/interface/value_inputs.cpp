// value_inputs.cpp: searches for uses of a parameter.
#include "compiler/interface/value_inputs.h"

#include <algorithm>

#include "compiler/tir/visit.h"

namespace relaxc::interface {

bool reads_values(const Object& object, const Entry& entry, size_t input) {
  if (entry.values.empty()) return false;
  auto named = [&](const tir::PrimFunc* f) { return f->name == entry.values; };
  auto found = std::find_if(object.functions.begin(), object.functions.end(), named);
  RELAXC_CHECK(found != object.functions.end(), "no prim func " + entry.values);
  tir::BufferRef buffer = (*found)->params.at(input).buffer;
  bool reads = false;
  tir::for_each_stmt((*found)->body, [&](tir::Stmt s) {
    if (const auto* view = s.as<tir::View>()) reads |= view->base == buffer;
    if (const auto* invoke = s.as<tir::Invoke>())
      reads |= std::find(invoke->args.begin(), invoke->args.end(), tir::Argument(buffer)) != invoke->args.end();
    for (arith::Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](arith::Expr node) {
        const auto* load = node.as<arith::Load>();
        reads |= load != nullptr && load->buffer == buffer;
      });
  });
  return reads;
}

}  // namespace relaxc::interface
