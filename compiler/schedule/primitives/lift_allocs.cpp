// lift_allocs.cpp: see lift_allocs.h.
#include "compiler/schedule/primitives/lift_allocs.h"

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::For;

Legal<LiftAllocs::Facts> LiftAllocs::legal(const Tree& tree) const {
  const For& own = tree.loop(loop);
  RELAXC_REQUIRE(own.loop_kind == tir::LoopKind::kSerial,
                 "iterations that run at the same time each need their own memory");
  for (Stmt s = own.body; s.as<tir::Alloc>() != nullptr; s = s.as<tir::Alloc>()->body)
    for (Expr dim : s.as<tir::Alloc>()->buffer->shape)
      RELAXC_REQUIRE(!depends_on(dim, own.var), "the size of the memory differs between iterations");
  return Done{};
}

LiftAllocs::Made LiftAllocs::apply(Tree& tree, const Facts&) const {
  tir::Builder build(tree.context());
  tree.edit_loop(loop, [&](const For& from) {
    std::vector<BufferRef> lifted;
    For to = from;
    to.annotations.erase(kIndependent);
    for (; to.body.as<tir::Alloc>() != nullptr; to.body = to.body.as<tir::Alloc>()->body)
      lifted.push_back(to.body.as<tir::Alloc>()->buffer);
    Stmt s = make_stmt(tree.context(), std::move(to));
    for (size_t i = lifted.size(); i-- > 0;) s = build.alloc(lifted[i], s);
    return s;
  });
  return Done{};
}

}  // namespace relaxc::schedule
