// host_lowering.cpp: constructs the parts of a host function, each with references to those that it uses.
#include "compiler/transform/lower/host/host_lowering.h"

#include <algorithm>

namespace relaxc::lower {

namespace {

bool calls_functions(const relax::Function& function) {
  std::vector<relax::Op*> ops = relax::ops_of(function.body(), true);
  return std::any_of(ops.begin(), ops.end(),
                     [](const relax::Op* op) { return op->kind == relax::OpKind::kCallFunction; });
}

}  // namespace

HostLowering::HostLowering(Shared& shared, relax::Function& function, Form form)
    : shared(shared),
      function(function),
      form(form),
      at(shared.module.context()),
      origins(form == Form::kEntry && !calls_functions(function) ? nullptr : &shared.nodes, function),
      shapes(at, origins, function.facts),
      heap(at, shapes, origins),
      memory(shared, at, shapes, heap, origins),
      values(at, shapes),
      signature(at, shapes),
      destinations(at, shapes, memory, signature),
      entry(shared, function, shapes, values, signature) {}

}  // namespace relaxc::lower
