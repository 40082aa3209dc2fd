// inline.cpp: see inline.h.
#include "compiler/schedule/primitives/inline.h"

#include <fmt/format.h>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Indices;

Legal<Inline::Facts> Inline::legal(const Tree& tree) const {
  const Stmt nest = nest_around(tree.root(), block);
  RELAXC_REQUIRE(static_cast<bool>(nest), "no nest of its own is around block " + block_name(tree, block));
  const analysis::Nest producer = analysis::as_nest(nest);
  RELAXC_REQUIRE(!producer.block->init && axes_of(tree, nest).size() == producer.loops.size(),
                 fmt::format("block '{}' is a reduction, which cannot be inlined", block_name(tree, block)));
  RELAXC_LEGAL(is_producer(tree, nest));
  return nest;
}

Inline::Made Inline::apply(Tree& tree, const Facts& facts) const {
  const Stmt nest = facts;
  const analysis::Nest producer = analysis::as_nest(nest);
  BufferRef buffer = producer.store->buffer;
  arith::Substitution outer = bindings(*producer.block);
  Expr value = arith::substitute(producer.store->value, outer);
  Indices axes;
  for (Expr index : producer.store->indices) axes.push_back(arith::substitute(index, outer));
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) { return s == nest ? Stmt() : s; };
  tree.set_root(tir::rewrite(tree.context(), tree.root(), rewriter));
  rewriter.on_stmt = {};
  rewriter.on_expr = [&](Expr e) {
    return arith::rewrite(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      if (load == nullptr || load->buffer != buffer) return node;
      arith::Substitution at;
      for (size_t i = 0; i < axes.size(); ++i) at[axes[i]] = load->indices[i];
      return arith::substitute(value, at);
    });
  };
  tree.set_root(tir::rewrite(tree.context(), tree.root(), rewriter));
  return Done{};
}

}  // namespace relaxc::schedule
