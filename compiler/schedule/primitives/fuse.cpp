// fuse.cpp: see fuse.h.
#include "compiler/schedule/primitives/fuse.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;

Legal<Fuse::Facts> Fuse::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, outer));
  RELAXC_LEGAL(is_in_order(tree, inner));
  RELAXC_REQUIRE(
      can_fuse(tree.loop(outer), tree.loop(inner), true),
      fmt::format("loops '{}' and '{}' are not one inside of the other, or not side by side in all that they read",
                  loop_name(tree, outer), loop_name(tree, inner)));
  return Done{};
}

Fuse::Made Fuse::apply(Tree& tree, const Facts&) const {
  uint32_t fused_id = 0;
  std::map<std::pair<uint32_t, size_t>, std::pair<BufferRef, BufferRef>> views;
  tree.edit_loop(outer, [&](const For& from) {
    const For& nested = *from.body.as<For>();
    Var p = tree.context().var(from.var.name() + nested.var.name());
    for_each_access(nested.body, [&](const Access& access) {
      std::optional<size_t> at = fused_place(access.indices, from.var, nested.var);
      if (!at) return;
      auto& [base, to] = views[{access.buffer->id, *at}];
      base = access.buffer;
      if (to != nullptr) return;
      tir::Buffer flat = *base;
      flat.id = tree.context().next_id();
      flat.shape[*at] = flat.shape[*at] * flat.shape[*at + 1];
      flat.shape.erase(flat.shape.begin() + static_cast<std::ptrdiff_t>(*at) + 1);
      to = tree.context().arena().make<tir::Buffer>(std::move(flat));
    });
    Stmt body = nested.body;
    for (auto& [key, pair] : views) {
      size_t at = key.second;
      body = redirect(tree.context(), body, pair.first, pair.second,
                      [&](const Indices& at_base) -> std::optional<Indices> {
                        if (fused_place(at_base, from.var, nested.var) != at) return std::nullopt;
                        Indices to = at_base;
                        Expr before = arith::substitute(at_base[at], {{from.var, tree.context().index(0)}});
                        Expr along = arith::substitute(at_base[at + 1], {{nested.var, tree.context().index(0)}});
                        to[at] = arith::simplify(before * nested.extent + along + p);
                        to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
                        return to;
                      });
    }
    body = tir::substitute(
        tree.context(), body,
        {{from.var, arith::floordiv(p, nested.extent)}, {nested.var, arith::floormod(p, nested.extent)}});
    For made = new_loop(tree.context(), p, from.extent * nested.extent, body);
    fused_id = made.id;
    return make_stmt(tree.context(), std::move(made));
  });
  for (auto& [key, pair] : views) add_view(tree, pair.second, pair.first);
  return fused_id;
}

}  // namespace relaxc::schedule
