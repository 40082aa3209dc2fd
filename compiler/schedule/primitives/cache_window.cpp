// cache_window.cpp: see cache_window.h.
#include "compiler/schedule/primitives/cache_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/primitives/generated_code.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;
using tir::Indices;
using tir::LoopKind;

namespace {

int64_t round_up(int64_t size, int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

/// The layout of a row of the operand in the copy: column c is at place c / phases + border of phase c % phases, so
/// that the phases of one place are adjacent. Before place 0 there is room for a border of whole vectors, so that
/// columns are written to whole cache lines; not if columns fill at most half a vector, since the row would become
/// several times larger.
/// If the window moves along the operand, or the operand's length is not constant, every place may be outside of it,
/// and columns count from the window's current start. A row that is outside has no columns, which is checked once per
/// row. In other rows, vectors within the operand are loaded without masks and those at its ends under masks, but all
/// are stored whole: masked stores take tens of cycles on some machines.
struct Row {
  int64_t phases = 1;
  int64_t border = 0;        ///< place of column 0
  int64_t shift = 0;         ///< phase of position 0, which is in place 0
  int64_t places = 0;        ///< number of places that are read
  int64_t first = 0, count;  ///< range of places that have columns
  int64_t lead = 0;          ///< elements before place 0

  Row(const WindowDim& dim, int64_t step, int64_t lanes) : phases(step) {
    shift = (*dim.base % phases + phases) % phases;
    border = (shift - *dim.base) / phases;
    places = (dim.extent + shift + phases - 1) / phases;
    count = places;
    if (!dim.is_fixed()) lead = round_up(padding(), lanes) - padding();
    if (!dim.is_fixed()) return;
    first = std::max<int64_t>(0, border);
    count = std::max<int64_t>(0, std::min(places, border + (*dim.length + phases - 1) / phases) - first);
    lead = 2 * count > lanes ? (lanes - first % lanes) % lanes : 0;
  }
  int64_t end() const { return first + count; }
  /// Places before the operand's first column, if the window has not moved.
  int64_t padding() const { return std::max<int64_t>(0, border); }
};

/// Requires that the window can be copied before `loop`: everything that selects an element is outside of it or a loop
/// of the window, and nothing inside of it stores to the operand.
Legal<> holds_window(const Tree& tree, uint32_t block_id, const For& outermost, uint32_t vector, const Window& window) {
  const WindowDim* row = window.dim_of(vector);
  bool fits = tree.may_allocate() && row != nullptr && row->slides && row->base && is_plain(outermost.body);
  if (fits && row->moving) fits = arith::divisor(row->moving) % window.step_of(vector) == 0;
  size_t blocks = 0;
  auto look = [&](const For& inner) {
    bool shares = std::find(window.sharing.begin(), window.sharing.end(), inner.id) != window.sharing.end();
    fits &= (shares || window.dim_of(inner.id) != nullptr) && inner.min.is_constant(0);
  };
  look(outermost);
  tir::for_each_stmt(outermost.body, [&](Stmt s) {
    if (const auto* inner = s.as<For>()) look(*inner);
    const auto* found = s.as<Block>();
    blocks += found != nullptr && found->id == block_id ? 1 : 0;
    const auto* store = s.as<tir::Store>();
    fits &= store == nullptr || tree.memory_of(store->buffer) != tree.memory_of(window.load->buffer);
  });
  for (const WindowDim& dim : window.dims)
    for (const auto& [id, step] : dim.steps) {
      const auto around = loops_around(tree, id);
      fits &= id == outermost.id ||
              std::any_of(around.begin(), around.end(), [&](const For* one) { return one->id == outermost.id; });
    }
  RELAXC_REQUIRE(fits && blocks == 1,
                 fmt::format("loop '{}' does not hold block '{}' and just the loops of its window, or the "
                             "kernel has no scratch memory",
                             loop_name(tree, outermost.id), block_name(tree, block_id)));
  return Done{};
}

/// The number of positions of the dim that are read, by the current extents of the loops.
Expr positions_of(const Tree& tree, const WindowDim& dim) {
  Expr count = tree.context().index(1);
  for (const auto& [id, step] : dim.steps) count = count + (tree.loop(id).extent - 1) * step;
  return arith::simplify(count);
}

/// Makes the copy of a window before a loop, and the block that reads it.
class CopyOfWindow {
 public:
  CopyOfWindow(Tree& tree, const CacheWindow& step, const Window& window)
      : tree_(tree),
        context_(tree.context()),
        build_(tree.context()),
        step_(step),
        window_(window),
        along_row_(*window.dim_of(step.vector)),
        row_(along_row_, window.step_of(step.vector), step.lanes),
        positions_(window.dims.size()) {}

  CachedWindow run() {
    order_dims();
    scratch_ =
        build_.buffer("window", window_.node.dtype(), shape_of_copy(), tir::Scope::kGlobal, tir::kMemoryAlignment);
    const Stmt copy = copy_nest();
    const Expr use = build_.load(scratch_, place_of_use());
    tree_.edit_block(step_.block, [&](const Block& from) {
      Block to = from;
      to.body = tir::substitute(context_, from.body, {{window_.node, use}});
      return make_stmt(context_, std::move(to));
    });
    tree_.edit_loop(step_.loop, [&](const For& from) {
      return build_.alloc(scratch_, build_.seq({copy, Stmt(&from)}));
    });
    return made_;
  }

 private:
  /// Dims that slide come first, then those that are only summed over; after them the phases of a row, and the row.
  /// Where elements are read one by one (LANES of 1), what is summed over comes first: a block of terms is contiguous.
  /// Rows of 512 channels of 16 places would begin in the same sets of a cache of 4 KiB a way.
  void order_dims() {
    const bool slides_first = step_.lanes > 1;
    positions_[static_cast<size_t>(&along_row_ - window_.dims.data())] = context_.var("position");
    for (bool slides : {slides_first, !slides_first})
      for (size_t d = 0; d < window_.dims.size(); ++d)
        if (window_.dims[d].slides == slides && &window_.dims[d] != &along_row_) order_.push_back(d);
    for (size_t d : order_) {
      positions_[d] = rows_.emplace_back(context_.var("row"));
      extents_.push_back(positions_of(tree_, window_.dims[d]));
    }
  }

  std::vector<Expr> shape_of_copy() const {
    std::vector<Expr> shape;
    for (size_t d : order_) shape.push_back(context_.index(window_.dims[d].extent));
    const int64_t lanes = step_.lanes;
    int64_t right = row_.end() + round_up(std::max<int64_t>(0, row_.places - row_.end()), lanes);
    if (!along_row_.is_fixed()) {
      const int64_t written = row_.padding() + round_up(row_.places - row_.padding(), lanes);
      right = std::max(written, row_.places + iterations_beyond());
    }
    shape.push_back(context_.index(row_.phases));
    shape.push_back(context_.index(round_up(row_.lead + std::max({row_.places, right, row_.first}), lanes)));
    return shape;
  }

  /// The iterations that complete the last vector of the loop along the row, which may read beyond the window.
  int64_t iterations_beyond() const {
    int64_t first_taps = along_row_.extent - 1;  // the distance of what the first tap of the last iteration reads
    for (const auto& [id, step] : along_row_.steps) {
      if (id == step_.vector) continue;
      const int64_t* taps = tree_.loop(id).extent.constant();
      if (taps == nullptr) return step_.lanes;
      first_taps -= (*taps - 1) * step;
    }
    const int64_t most = first_taps / row_.phases + 1;
    return round_up(most, step_.lanes) - most;
  }

  /// The subscripts of a place in the copy of the row `rows_`.
  Indices place(Expr phase, Expr at) const {
    Indices to(rows_.begin(), rows_.end());
    to.push_back(phase), to.push_back(at);
    return to;
  }

  /// The nest that copies rows. Borders are written as whole vectors, and columns overwrite what is too much of them.
  Stmt copy_nest() {
    if (!along_row_.is_fixed()) return open_rows();
    const Stmt inner = columns();
    Stmt copy = build_.seq({border(0, row_.first), border(row_.lead + row_.end(), row_.places - row_.end()), inner});
    for (size_t i = rows_.size(); i-- > 0;) copy = make_stmt(context_, new_loop(context_, rows_[i], extents_[i], copy));
    return copy;
  }

  /// The value of places that are outside of the operand.
  Expr outside() const {
    const auto* select = window_.node.as<arith::Select>();
    return select != nullptr ? select->else_value : context_.zero(window_.node.dtype());
  }

  Stmt border(int64_t begin, int64_t count) {
    if (count <= 0) return {};
    const int64_t lanes = step_.lanes;
    const Expr other = outside(), vectors = context_.index(round_up(count, lanes) / lanes);
    return build_.nest({context_.index(row_.phases), vectors}, [&](auto& i) {
      return build_.loop(
          "lane", context_.index(lanes),
          [&](Var lane) { return build_.store(scratch_, place(i[0], i[1] * lanes + begin + lane), other); },
          LoopKind::kVectorized);
    });
  }

  /// A loop over places, and an inner loop over the phases of a place.
  For over_places(Expr count, const std::function<Stmt(Var along, Var phase)>& store) const {
    const Var along = context_.var("along"), phase = context_.var("phase");
    For phases = new_loop(context_, phase, context_.index(row_.phases), store(along, phase));
    phases.loop_kind = LoopKind::kUnrolled;
    return new_loop(context_, along, count, make_stmt(context_, std::move(phases)));
  }

  /// The loop, to be vectorized, over `count` places from `begin` on.
  Stmt whole_places(Expr begin, Expr count, const std::function<Expr(Var along, Var phase)>& element) {
    For places = over_places(count, [&](Var along, Var phase) {
      Block block;
      block.name = "window";
      block.body = build_.store(scratch_, place(phase, along + begin), element(along, phase));
      const Stmt body = build_.block(std::move(block));
      made_.block = body.as<Block>()->id;
      return body;
    });
    made_.along = places.id;
    return make_stmt(context_, std::move(places));
  }

  Stmt columns() {
    return whole_places(context_.index(row_.lead + row_.first), context_.index(row_.count), [&](Var along, Var phase) {
      arith::Facts inner;
      inner.bound(along, {0, std::max<int64_t>(row_.count, 1) - 1});
      inner.bound(phase, {0, row_.phases - 1});
      const Column column = column_at(along, phase);
      const Expr inside = arith::simplify(column.inside, inner);
      return inside.is_constant(1) ? column.value : arith::select(inside, column.value, outside());
    });
  }

  // ---- rows if the window moves along the operand or the operand's length is not constant

  /// Rows `begin` to `end` of the copy, along one of its dims.
  struct Rows {
    size_t which = 0;  ///< index in `rows_`
    Expr begin, end;
  };

  /// The rows that are inside of the operand; nullopt if all are, or if they are not consecutive.
  std::optional<Rows> rows_inside() const {
    std::optional<Rows> found;
    for (size_t i = 0; i < order_.size(); ++i) {
      const WindowDim& dim = window_.dims[order_[i]];
      if (!dim.slides || !dim.base) continue;
      if (found) return {};
      const Expr zero = context_.index(0), first = (dim.moving ? dim.moving : zero) + *dim.base;
      const Expr begin = arith::simplify(arith::min(extents_[i], arith::max(zero, zero - first)));
      const Expr last = arith::min(extents_[i], window_.load->buffer->shape[dim.axis] - first);
      found = Rows{i, begin, arith::simplify(arith::max(begin, last))};
    }
    return found;
  }

  /// Loops over the rows of the copy, from `begin` to `end` along the dim of `rows`; over all rows if `rows` is null.
  Stmt over_rows(const Rows* rows, Expr begin, Expr end, Stmt body) {
    for (size_t i = rows_.size(); i-- > 0;) {
      const bool part = rows != nullptr && rows->which == i;
      const Var row = context_.var("row");
      body = tir::substitute(context_, body, {{rows_[i], part ? begin + row : Expr(row)}});
      body = make_stmt(context_, new_loop(context_, row, part ? arith::simplify(end - begin) : extents_[i], body));
    }
    return body;
  }

  /// Writes the vectors before the operand's first column (one, unless the window has moved), the vectors inside of it,
  /// and the rest, some of which is behind it. Conditions on columns are computed once for all rows.
  Stmt open_rows() {
    const int64_t lanes = step_.lanes, in_front = row_.lead + row_.padding();
    const Expr zero = context_.index(0), width = context_.index(lanes), front = context_.index(in_front / lanes);
    const Expr needed = arith::simplify(places_along_row() - row_.padding());
    const Expr columns = length_of_row() - moved() - (row_.padding() - row_.border) * row_.phases;
    const Expr complete = arith::min(needed, arith::simplify(arith::floordiv(columns, row_.phases)));
    const Expr whole = arith::simplify(arith::max(zero, arith::floordiv(complete, width)));
    const Expr all = arith::simplify(arith::ceildiv(needed, width));
    const std::optional<Rows> inside = rows_inside();
    const Rows* rows = inside ? &*inside : nullptr;
    auto these = [&](Stmt body) {
      return over_rows(rows, rows ? rows->begin : Expr(), rows ? rows->end : Expr(), body);
    };
    auto at_end = [&](Expr first, Expr count) {
      return over_vectors(first, count, [&](Expr vector) { return these(vector_at_end(vector)); });
    };
    std::vector<Stmt> parts;
    if (rows != nullptr)
      for (const auto& [begin, end] : {std::pair(zero, rows->begin), std::pair(rows->end, extents_[rows->which])})
        parts.push_back(over_rows(rows, begin, end, over_vectors(zero, arith::simplify(all + front), [&](Expr vector) {
                                    return vector_outside(vector);
                                  })));
    parts.push_back(at_end(zero, front));
    parts.push_back(
        these(whole_places(context_.index(in_front), arith::simplify(whole * lanes), [&](Var along, Var phase) {
          return element_at(arith::simplify(along + in_front), phase);
        })));
    const Expr rest = arith::simplify(all - whole);
    parts.push_back(at_end(arith::simplify(whole + front), rest));
    return build_.seq(std::move(parts));
  }

  /// Writes a vector of each phase that is completely outside of the operand.
  Stmt vector_outside(Expr vector) {
    return in_lanes(vector, [&](Expr at, Expr phase) { return build_.store(scratch_, place(phase, at), outside()); });
  }

  /// Writes a vector of each phase of which some lanes may be inside of the operand.
  Stmt vector_at_end(Expr vector) {
    return in_lanes(vector, [&](Expr at, Expr phase) {
      const Expr column = arith::simplify((at - (row_.lead + row_.border)) * row_.phases + phase + moved());
      const Expr inside = arith::logical_and(arith::le(context_.index(0), column), arith::lt(column, length_of_row()));
      const BufferRef local = build_.buffer("operand", window_.node.dtype(), {}, tir::Scope::kLocal);
      const Stmt copy = build_.store(local, {}, element_at(at, phase));
      const Stmt load = build_.branch(arith::simplify(inside), copy);
      const Stmt store = build_.store(scratch_, place(phase, at), build_.load(local, {}));
      return build_.alloc(local, build_.seq({build_.store(local, {}, outside()), load, store}));
    });
  }

  Stmt over_vectors(Expr first, Expr count, const std::function<Stmt(Expr vector)>& body) {
    if (count.is_constant(0)) return {};
    return build_.loop("vector", count, [&](Var vector) { return body(arith::simplify(first + vector)); });
  }

  Stmt in_lanes(Expr vector, const std::function<Stmt(Expr at, Expr phase)>& store) {
    auto phases = [&](Var lane) {
      std::vector<Stmt> all;
      for (int64_t i = 0; i < row_.phases; ++i) all.push_back(store(vector * step_.lanes + lane, context_.index(i)));
      return build_.seq(std::move(all));
    };
    return build_.loop("lane", context_.index(step_.lanes), phases, LoopKind::kVectorized);
  }

  /// The value for place `at` and a phase, where the row and the column are inside of the operand as far as
  /// rows_inside() tells.
  Expr element_at(Expr at, Expr phase) const {
    const size_t axis = static_cast<size_t>(&along_row_ - window_.dims.data());
    const Expr position = positions_[axis], column = position + *along_row_.base + moved();
    const PlacedOperand operand = operand_in_row(position);
    Expr value = operand.value;
    if (operand.inside) {
      arith::Facts facts;
      assume_inside(facts, column, length_of_row());
      for (size_t i = 0; i < order_.size(); ++i) {
        const WindowDim& dim = window_.dims[order_[i]];
        if (!rows_inside() || !dim.slides || !dim.base) continue;
        const Expr row = rows_[i] + *dim.base + (dim.moving ? dim.moving : context_.index(0));
        assume_inside(facts, row, window_.load->buffer->shape[dim.axis]);
      }
      const Expr inside = arith::simplify(operand.inside, facts);
      value = without_clamps(value, operand.inside);
      if (!inside.is_constant(1)) value = arith::select(inside, value, outside());
    }
    const Expr there = (at - (row_.lead + row_.border)) * row_.phases + phase - *along_row_.base;
    return arith::substitute(value, {{position, arith::simplify(there)}});
  }

  void assume_inside(arith::Facts& facts, Expr index, Expr length) const {
    facts.assume(arith::le(context_.index(0), index));
    facts.assume(arith::lt(index, length));
  }

  Expr moved() const { return along_row_.moving ? along_row_.moving : context_.index(0); }
  Expr length_of_row() const { return window_.load->buffer->shape[along_row_.axis]; }
  /// The places that are read; the last window of one that moves may have fewer.
  Expr places_along_row() const {
    return arith::simplify(arith::ceildiv(positions_of(tree_, along_row_) + row_.shift, row_.phases));
  }

  struct Column {
    Expr inside;  ///< whether it is inside of the operand
    Expr value;   ///< the element there if it is inside
  };
  /// The column at place `along` of a phase.
  Column column_at(Expr along, Expr phase) const {
    Expr column = arith::simplify((along + row_.first - row_.border) * row_.phases + phase);
    const PlacedOperand operand = operand_in_row(arith::simplify(column - *along_row_.base));
    if (along_row_.moving) column = column + along_row_.moving;
    Expr inside = arith::lt(column, window_.load->buffer->shape[along_row_.axis]);
    if (operand.inside) inside = arith::logical_and(inside, operand.inside);
    return {inside, operand.value};
  }

  PlacedOperand operand_in_row(Expr position) const {
    std::vector<Expr> positions = positions_;
    positions[static_cast<size_t>(&along_row_ - window_.dims.data())] = position;
    return operand_at(tree_, window_, positions);
  }

  /// The subscripts at which the block reads the copy. Only valid when all positions are known.
  Indices place_of_use() const {
    const Places places = places_of(tree_, window_, positions_);
    Indices at;
    for (size_t d : order_) at.push_back(arith::simplify(places.back.at(positions_[d])));
    Expr taps = context_.index(row_.shift);
    for (const auto& [id, step] : along_row_.steps)
      if (id != step_.vector) taps = taps + tree_.loop(id).var * step;
    at.push_back(arith::simplify(arith::floormod(taps, row_.phases)));
    at.push_back(tree_.loop(step_.vector).var + arith::simplify(arith::floordiv(taps, row_.phases) + row_.lead));
    return at;
  }

  Tree& tree_;
  Context& context_;
  tir::Builder build_;
  const CacheWindow& step_;
  const Window& window_;
  const WindowDim& along_row_;
  const Row row_;
  std::vector<size_t> order_;    ///< dims of the window except that of the row, in the copy's order
  std::vector<Var> rows_;        ///< variables of the copy's loops over these
  std::vector<Expr> extents_;    ///< extents of these loops
  std::vector<Expr> positions_;  ///< positions of the copy's loops, one for each dim of the window
  BufferRef scratch_ = nullptr;
  CachedWindow made_;
};

}  // namespace

Legal<CacheWindow::Facts> CacheWindow::legal(const Tree& tree) const {
  const auto* sum = tree.block(block).body.as<tir::Store>();
  std::set<uint32_t> distinct(spatial.begin(), spatial.end());
  distinct.insert(reduced.begin(), reduced.end());
  const bool reads = sum != nullptr && !tree.block(block).init && update_of(*sum).value && lanes > 0 && lanes <= 256 &&
                     distinct.size() == spatial.size() + reduced.size();
  const std::optional<Window> found = reads ? window_of(tree, block, spatial, reduced) : std::nullopt;
  RELAXC_REQUIRE(found.has_value(), fmt::format("block '{}' reads no window of an operand", block_name(tree, block)));
  RELAXC_LEGAL(holds_window(tree, block, tree.loop(loop), vector, *found));
  return *found;
}

CacheWindow::Made CacheWindow::apply(Tree& tree, const Facts& window) const {
  return CopyOfWindow(tree, *this, window).run();
}

}  // namespace relaxc::schedule
