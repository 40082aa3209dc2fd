// strip_mine_nests.cpp: see strip_mine_nests.h.
#include "compiler/schedule/primitives/strip_mine_nests.h"

#include <fmt/format.h>

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

Legal<StripMineNests::Facts> StripMineNests::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, loop));
  RELAXC_LEGAL(runs_together(tree, loop));
  RELAXC_REQUIRE(rows > 1, "a step has at least 2 rows");
  RELAXC_REQUIRE(tree.loop(loop).body.as<tir::Seq>() != nullptr,
                 fmt::format("loop '{}' holds one nest", loop_name(tree, loop)));
  RELAXC_REQUIRE(tree.loop(loop).loop_kind == tir::LoopKind::kSerial, "steps of a parallel loop");
  return Done{};
}

StripMineNests::Made StripMineNests::apply(Tree& tree, const Facts&) const {
  tir::Builder build(tree.context());
  tree.edit_loop(loop, [&](const For& from) {
    const bool even = arith::divisor(arith::simplify(from.extent), tree.facts()) % rows == 0;
    return build.loop(from.var.name() + "_c", arith::ceildiv(from.extent, rows), [&](Var step) {
      Expr begin = from.min + step * rows, count = build.index(rows);
      if (!even) count = arith::simplify(arith::min(count, from.extent - step * rows));
      std::vector<Stmt> parts;
      for (Stmt nest : from.body.as<tir::Seq>()->body)
        parts.push_back(build.loop(from.var.name(), count, [&](Var row) {
          return tir::substitute(tree.context(), nest, {{from.var, begin + row}});
        }));
      return build.seq(std::move(parts));
    });
  });
  return Done{};
}

}  // namespace relaxc::schedule
