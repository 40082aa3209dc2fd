// call_text.cpp: recognizes calls and targets in the tree.
#include "frontends/relax/text/call_text.h"

#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

std::string callee_of(const ast::Expr* e) {
  if (e == nullptr || !e->is(AstKind::kCall)) return {};
  std::string path = dotted_path(*e->items[0]).value_or("");
  for (std::string_view old : {"tir.", "ty.", "tvm.script.tir.", "Ts.", "tirx."})
    if (path.rfind(old, 0) == 0) path = "T." + path.substr(old.size());
  return path == "T.ramp" ? "T.Ramp" : path == "T.broadcast" ? "T.Broadcast" : path;  // of 2021
}

std::vector<const ast::Expr*> targets_of(const ast::Expr& target) {
  return target.is_sequence() ? target.items : std::vector<const ast::Expr*>{&target};
}

}  // namespace relaxc::frontend
