// widen_bytes.cpp: widens bytes to 16 bits before the loop that multiplies them.
//
// A tile that reads bytes widens each word of them again for each of its columns: for 2x2 sums of four products, that
// is two of twenty instructions for each row. If many columns read the same rows, widening once serves them all.
#include "compiler/schedule/primitives/widen_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/primitives/widened_words.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"
#include "compiler/tir/dot_word.h"

namespace relaxc::schedule {

using tir::Indices;

namespace {

constexpr int64_t kQuad = 4;  ///< number of bytes that a dot product takes

/// The innermost dim of the box that has more than one element.
size_t dim_along(const Region& region) {
  size_t dim = region.extent.size() - 1;
  while (dim > 0 && region.extent[dim] == 1) --dim;
  return dim;
}

/// The dim outside of `along` that `loop` alone subscripts, by its variable; nullopt if there is none.
std::optional<size_t> dim_of_rows(const tir::For& loop, BufferRef buffer, const Region& region, size_t along) {
  std::optional<size_t> rows;
  bool same = region.extent[along] % kQuad == 0;
  for_each_access(loop.body, [&](const Access& access) {
    for (size_t dim = 0; access.buffer == buffer && dim < access.indices.size(); ++dim) {
      const Expr place = arith::simplify(access.indices[dim] - region.begin[dim]);
      if (!depends_on(place, loop.var)) continue;
      same &= place == loop.var && dim < along && rows.value_or(dim) == dim;
      rows = dim;
    }
  });
  return same ? rows : std::nullopt;
}

/// The subscripts in the copy for an element of the box.
Indices place_in_copy(const WidenBytes::Copied& facts, const Indices& in_box) {
  if (!facts.rows) return in_box;
  Indices at;
  for (size_t dim = 0; dim < facts.along; ++dim)
    if (dim != *facts.rows) at.push_back(in_box[dim]);
  at.push_back(arith::simplify(arith::floordiv(in_box[facts.along], kQuad)));
  at.push_back(in_box[*facts.rows]);
  at.push_back(arith::simplify(arith::floormod(in_box[facts.along], kQuad)));
  return at;
}

/// The number of zeros after each row that complete the last word, so that it need not overlap the one before.
int64_t zeros_behind(const WidenBytes::Copied& facts) {
  return (kQuad - facts.terms % kQuad) % kQuad;
}

/// The buffer of the copy. Rows start at multiples of four bytes, which loads of two words need.
BufferRef buffer_of_copy(const Tree& tree, BufferRef bytes, const WidenBytes::Copied& facts) {
  std::vector<int64_t> dims = facts.region.extent;
  if (facts.rows) {
    dims.resize(facts.along + 1);
    dims.back() /= kQuad;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*facts.rows));
    dims.push_back(facts.region.extent[*facts.rows]), dims.push_back(kQuad);
  } else {
    dims[facts.along] += zeros_behind(facts);
    dims[facts.along] += dims[facts.along] % 2;
  }
  std::vector<Expr> shape;
  for (int64_t extent : dims) shape.push_back(tree.context().index(extent));
  tir::Builder build(tree.context());
  return build.buffer(bytes->name + "_wide", DType::i(16), std::move(shape), tir::Scope::kGlobal, 8);
}

/// Rewrites the sums of a loop to read the copy.
class WideSums {
 public:
  WideSums(Context& context, BufferRef bytes, const WidenBytes::Copied& facts)
      : context_(context), bytes_(bytes), facts_(facts) {}

  Stmt of(Stmt loop) {
    tir::Rewriter rewriter;
    rewriter.on_expr = [&](Expr e) { return arith::rewrite(e, [&](Expr node) { return widened(node); }); };
    return tir::rewrite(context_, loop, rewriter);
  }

 private:
  Expr widened(Expr e) {
    const std::optional<arith::Dot4> dot = dot_of_bytes(e, bytes_);
    if (!dot) return e;
    arith::PairDot pairs{{}, dot->b};
    for (size_t i = 0; i < pairs.a.size(); ++i) pairs.a[i] = arith::cast(DType::i(32), in_copy(dot->a[i]));
    return tir::pairs_of(pairs) != nullptr ? arith::pair_dot(pairs) : e;
  }

  Expr in_copy(Expr byte) const {
    Indices at = byte.as<arith::Cast>()->value.as<arith::Load>()->indices;
    if (zeros_behind(facts_) != 0) at[facts_.along] = without_overlap(at[facts_.along]);
    for (size_t dim = 0; dim < at.size(); ++dim) at[dim] = arith::simplify(at[dim] - facts_.region.begin[dim]);
    return context_.load(facts_.wide, facts_.wide->dtype, place_in_copy(facts_, at));
  }

  /// The subscript of a last word that follows the one before, instead of overlapping it to end with the row.
  Expr without_overlap(Expr place) const {
    return arith::rewrite(place, [&](Expr node) {
      const auto* least = node.as<arith::Min>();
      if (least == nullptr) return node;
      if (least->b.is_constant(facts_.terms - kQuad)) return least->a;
      return least->a.is_constant(facts_.terms - kQuad) ? least->b : node;
    });
  }

  Context& context_;
  const BufferRef bytes_;
  const WidenBytes::Copied& facts_;
};

/// Makes the copy: loops over the box in the order of the copy; along a row four bytes at once, then the remaining
/// ones, and zeros after the last.
class Copy {
 public:
  Copy(Context& context, BufferRef bytes, const WidenBytes::Copied& facts)
      : context_(context), build_(context), bytes_(bytes), facts_(facts), at_(facts.region.extent.size()) {}

  Stmt made() {
    std::vector<std::pair<Var, int64_t>> outer;
    for (size_t dim = 0; dim < at_.size(); ++dim) {
      if (dim > facts_.along) at_[dim] = context_.index(0);
      if (dim >= facts_.along) continue;
      outer.emplace_back(context_.var("c" + std::to_string(dim)), facts_.region.extent[dim]);
      at_[dim] = outer.back().first;
    }
    if (facts_.rows) {  // innermost except for the loop along the row
      const auto rows = outer.begin() + static_cast<std::ptrdiff_t>(*facts_.rows);
      const std::pair<Var, int64_t> loop = *rows;
      outer.erase(rows);
      return nest(outer, quads([&](Stmt s) { return nest({loop}, s); }));
    }
    const int64_t row = facts_.region.extent[facts_.along];
    Stmt s = quads([](Stmt inner) { return inner; });
    s = build_.seq({s, singles(row - row % kQuad, row % kQuad, true), singles(row, zeros_behind(facts_), false)});
    return nest(outer, s);
  }

 private:
  Stmt nest(const std::vector<std::pair<Var, int64_t>>& loops, Stmt s) {
    for (size_t i = loops.size(); i-- > 0;) s = loop(loops[i].first, loops[i].second, s, tir::LoopKind::kSerial);
    return s;
  }
  Stmt loop(Var var, int64_t extent, Stmt body, tir::LoopKind kind) {
    tir::For made = new_loop(context_, var, context_.index(extent), body);
    made.loop_kind = kind;
    return make_stmt(context_, std::move(made));
  }

  template <typename F>
  Stmt quads(F around) {
    const int64_t count = facts_.region.extent[facts_.along] / kQuad;
    if (count == 0) return {};
    const Var quad = context_.var("quad"), lane = context_.var("lane");
    const Stmt four = loop(lane, kQuad, copied(quad * kQuad + lane, true), tir::LoopKind::kVectorized);
    return nest({{quad, count}}, around(four));
  }
  Stmt singles(int64_t first, int64_t count, bool exist) {
    if (count == 0) return {};
    const Var rest = context_.var("rest");
    return loop(rest, count, copied(rest + first, exist), tir::LoopKind::kUnrolled);
  }

  Stmt copied(Expr along, bool exists) {
    at_[facts_.along] = along;
    Indices there;
    for (size_t dim = 0; dim < at_.size(); ++dim) there.push_back(arith::simplify(facts_.region.begin[dim] + at_[dim]));
    const DType wide = facts_.wide->dtype;
    tir::Block block;
    block.name = facts_.wide->name;
    const Expr value = exists ? arith::cast(wide, build_.load(bytes_, there)) : context_.zero(wide);
    block.body = build_.store(facts_.wide, place_in_copy(facts_, at_), value);
    return build_.block(std::move(block));
  }

  Context& context_;
  tir::Builder build_;
  const BufferRef bytes_;
  const WidenBytes::Copied& facts_;
  Indices at_;  ///< subscripts in the box
};

bool has_loop(Stmt s, const std::vector<uint32_t>& loops) {
  bool found = false;
  tir::for_each_stmt(s, [&](Stmt inner) {
    const auto* loop = inner.as<tir::For>();
    found |= loop != nullptr && std::find(loops.begin(), loops.end(), loop->id) != loops.end();
  });
  return found;
}

}  // namespace

Legal<WidenBytes::Facts> WidenBytes::legal(const Tree& tree) const {
  RELAXC_REQUIRE(buffer->dtype == DType::u(8), buffer->name + " has no unsigned bytes");
  RELAXC_REQUIRE(!loops.empty(), "no loop is named");
  const BufferRef words = words_of_bytes(Stmt(&tree.loop(loops[0])), buffer);
  Facts facts;
  size_t inner = 0;
  for (uint32_t loop : loops) {
    const Stmt around(&tree.loop(loop));
    RELAXC_REQUIRE(!has_loop(tree.loop(loop).body, loops),
                   fmt::format("another of the loops is inside of '{}'", loop_name(tree, loop)));
    RELAXC_STEP(const Region region, copyable_bytes(tree, buffer, loop));
    Copied copied{.loop = loop, .region = region, .along = dim_along(region)};
    RELAXC_REQUIRE(words != nullptr && words_of_bytes(around, buffer) == words,
                   fmt::format("loop '{}' computes no dot products of four of {} by words of one constant",
                               loop_name(tree, loop), buffer->name));
    RELAXC_STEP(facts.operand, own_operand(tree, words));
    copied.terms = tree.operands()[facts.operand].made.words_extent;
    if (zeros_behind(copied) == 0) copied.rows = dim_of_rows(tree.loop(loop), buffer, copied.region, copied.along);
    copied.wide = buffer_of_copy(tree, buffer, copied);
    copied.sums = WideSums(tree.context(), buffer, copied).of(around);
    RELAXC_REQUIRE(reads_of(copied.sums, buffer) == 0,
                   fmt::format("loop '{}' reads {} for something else than dot products of four, too",
                               loop_name(tree, loop), buffer->name));
    inner += reads_of(around, words);
    facts.copies.push_back(std::move(copied));
  }
  RELAXC_REQUIRE(inner == reads_of(tree.root(), words) && !tree.operands()[facts.operand].made.pairs,
                 words->name + " is read by other products, too");
  return facts;
}

WidenBytes::Made WidenBytes::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  tree.operands()[facts.operand].made.pairs = true;
  for (const Copied& copied : facts.copies) {
    const Stmt copy = Copy(tree.context(), buffer, copied).made();
    tree.edit_loop(copied.loop, [&](const tir::For&) {
      return build.alloc(copied.wide, build.seq({copy, copied.sums}));
    });
  }
  return Done{};
}

}  // namespace relaxc::schedule
