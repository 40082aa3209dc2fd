// interleave_words.cpp: see interleave_words.h.
//
// The problem: a tile of several rows (pixels) by one column widens its bytes once for all columns, but a copy of the
// box that it reads (widen_bytes) has a convolution's words at distances that differ by row and tap: each takes a load
// with an offset of its own. Laid out in the order of the sums, LDM loads the words of two rows at once and steps on.
//
// Taps that several rows share are copied for each of them; a caller weighs that against the loads.
#include "compiler/schedule/primitives/interleave_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/primitives/widened_words.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"
#include "compiler/tir/dot_word.h"

namespace relaxc::schedule {

using tir::Indices;

namespace {

constexpr int64_t kBytesOfWord = 4;

/// The only dot product of four bytes of the buffer in `s`; nullopt if there are others.
std::optional<arith::Dot4> only_dot(Stmt s, BufferRef bytes) {
  std::optional<arith::Dot4> found;
  size_t count = 0;
  tir::for_each_stmt(s, [&](Stmt inner) {
    for (Expr e : tir::expressions(inner))
      arith::for_each_node(e, [&](Expr node) {
        const std::optional<arith::Dot4> dot = dot_of_bytes(node, bytes);
        if (dot) found = dot, ++count;
      });
  });
  return count == 1 ? found : std::nullopt;
}

bool depend_on(const Indices& indices, Var var) {
  return std::any_of(indices.begin(), indices.end(), [&](Expr index) { return depends_on(index, var); });
}

/// Adds the loops in `s` that subscripts depend on, the outermost first. False if one is not from 0 to a known end.
bool add_loops(Stmt s, const Indices& indices, InterleaveWords::Facts& facts) {
  bool known = true;
  tir::for_each_stmt(s, [&](Stmt inner) {
    const auto* loop = inner.as<tir::For>();
    if (loop == nullptr || !depend_on(indices, loop->var)) return;
    const int64_t* extent = loop->extent.constant();
    known &= extent != nullptr && *extent > 0 && loop->min.is_constant(0);
    facts.vars.push_back(loop->var), facts.extents.push_back(extent != nullptr ? *extent : 0);
  });
  return known;
}

BufferRef buffer_of_words(Context& context, BufferRef bytes, const std::vector<int64_t>& extents) {
  std::vector<Expr> shape;
  for (int64_t extent : extents) shape.push_back(context.index(extent));
  shape.push_back(context.index(kBytesOfWord));
  return tir::Builder(context).buffer(bytes->name + "_wide", DType::i(16), std::move(shape), tir::Scope::kGlobal, 8);
}

/// The loop, with products of pairs of the copy in place of dot products of bytes.
Stmt sums_of_copy(Context& context, Stmt loop, BufferRef bytes, const InterleaveWords::Facts& facts) {
  tir::Rewriter rewriter;
  rewriter.on_expr = [&](Expr e) {
    return arith::rewrite(e, [&](Expr node) {
      const std::optional<arith::Dot4> dot = dot_of_bytes(node, bytes);
      if (!dot) return node;
      arith::PairDot pairs{{}, dot->b};
      for (size_t i = 0; i < pairs.a.size(); ++i) {
        Indices at(facts.vars.begin(), facts.vars.end());
        at.push_back(context.index(static_cast<int64_t>(i)));
        pairs.a[i] = arith::cast(DType::i(32), context.load(facts.wide, facts.wide->dtype, at));
      }
      return arith::pair_dot(pairs);
    });
  };
  return tir::rewrite(context, loop, rewriter);
}

/// Loops like those of `facts` around the copy of one word, whose bytes are lanes.
Stmt copy_of_words(Context& context, BufferRef bytes, const InterleaveWords::Facts& facts) {
  tir::Builder build(context);
  arith::Substitution own;
  Indices there, here;
  std::vector<Var> vars;
  for (Var var : facts.vars) {
    vars.push_back(context.var(var.name()));
    own[var] = vars.back();
    here.push_back(vars.back());
  }
  for (Expr index : facts.first) there.push_back(arith::substitute(index, own));
  const Var lane = context.var("lane");
  there[facts.along] = arith::simplify(there[facts.along] + lane);
  const Expr odd = arith::floormod(lane, 2) * 2;
  here.push_back(odd + arith::floordiv(lane, 2));  // even bytes first
  tir::Block block;
  block.name = facts.wide->name;
  block.body = build.store(facts.wide, here, arith::cast(facts.wide->dtype, build.load(bytes, there)));
  tir::For lanes = new_loop(context, lane, context.index(kBytesOfWord), build.block(std::move(block)));
  lanes.loop_kind = tir::LoopKind::kVectorized;
  Stmt s = make_stmt(context, std::move(lanes));
  for (size_t i = vars.size(); i-- > 0;)
    s = make_stmt(context, new_loop(context, vars[i], context.index(facts.extents[i]), s));
  return s;
}

}  // namespace

int64_t InterleaveWords::Facts::words() const {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

Legal<InterleaveWords::Facts> InterleaveWords::legal(const Tree& tree) const {
  const tir::For& rows = tree.loop(loop);
  const Stmt around(&rows);
  RELAXC_REQUIRE(buffer->dtype == DType::u(8), buffer->name + " has no unsigned bytes");
  RELAXC_LEGAL(copyable_bytes(tree, buffer, loop));
  const std::optional<arith::Dot4> dot = only_dot(around, buffer);
  const BufferRef words = words_of_bytes(around, buffer);
  RELAXC_REQUIRE(dot && words != nullptr, fmt::format("loop '{}' does not compute one dot product of four of {}",
                                                      loop_name(tree, loop), buffer->name));
  RELAXC_STEP(const size_t operand, own_operand(tree, words));
  RELAXC_REQUIRE(!tree.operands()[operand].made.pairs, words->name + " has its bytes in another order");
  Facts facts;
  facts.first = tir::word_of(*dot)->indices;
  const Indices& second = dot->a[1].as<arith::Cast>()->value.as<arith::Load>()->indices;
  while (facts.along + 1 < second.size() && facts.first[facts.along] == second[facts.along]) ++facts.along;
  RELAXC_REQUIRE(
      rows.min.is_constant(0) && rows.extent.constant() != nullptr && depend_on(facts.first, rows.var) &&
          add_loops(rows.body, facts.first, facts),
      fmt::format("the words that loop '{}' reads are not those of loops of known lengths", loop_name(tree, loop)));
  facts.vars.push_back(rows.var), facts.extents.push_back(*rows.extent.constant());
  facts.wide = buffer_of_words(tree.context(), buffer, facts.extents);
  facts.sums = sums_of_copy(tree.context(), around, buffer, facts);
  RELAXC_REQUIRE(reads_of(facts.sums, buffer) == 0,
                 fmt::format("loop '{}' reads {} for something else than dot products of four, too",
                             loop_name(tree, loop), buffer->name));
  return facts;
}

InterleaveWords::Made InterleaveWords::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  const Stmt copy = copy_of_words(tree.context(), buffer, facts);
  tree.edit_loop(loop, [&](const tir::For&) { return build.alloc(facts.wide, build.seq({copy, facts.sums})); });
  return Done{};
}

}  // namespace relaxc::schedule
