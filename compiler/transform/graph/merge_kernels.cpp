// merge_kernels.cpp: kernels that are the same program become one.
//
// A transformer repeats its blocks, and every block has kernels of the same shapes. Legalizing gives each call a prim
// func of its own; here those whose text is the same, but for the name, are made one, so that they are scheduled,
// compiled and stored once. The text is the criterion because it is what is compiled: it says all of a function but the
// identity of its variables.
#include <map>
#include <string>

#include "compiler/tir/print.h"
#include "compiler/transform/graph/origins.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

/// The text without the name; sources are merged, not compared.
std::string content(const tir::PrimFunc& function) {
  tir::PrimFunc nameless = function;
  nameless.name = "kernel";
  return tir::to_string(nameless);
}

}  // namespace

Result<Changed> merge_kernels(relax::Module& module, PassContext&) {
  std::map<std::string, tir::PrimFunc*> first;
  std::map<std::string, std::string> renamed;
  for (tir::PrimFunc* function : module.prim_funcs()) {
    if (!function->is_private) continue;
    auto [it, fresh] = first.emplace(content(*function), function);
    if (fresh) continue;
    add_origins(it->second->origins, function->origins);
    renamed[function->name] = it->second->name;
  }
  if (renamed.empty()) return Changed::kNo;
  for (relax::Function* function : module.functions())
    for (relax::Op* op : relax::ops_of(function->body(), true))
      if (auto found = renamed.find(op->callee); found != renamed.end()) op->callee = found->second;
  for (const auto& [from, to] : renamed) module.remove_prim_func(from);
  return Changed::kYes;
}

}  // namespace relaxc
