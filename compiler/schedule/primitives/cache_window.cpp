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

/// Where a row of the operand is in the copy: column c in place c / phases + border of phase c % phases, so that
/// the phases of one place are read together. In front of place 0 there is room for a border of whole vectors, so that
/// the columns are written to whole lines of cache; not where they fill half a vector at most, which would be a row of
/// several times the size.
/// Where the window moves along the operand, or the operand's end is not known, every place may be outside of it:
/// columns count from where the window has moved to, and which places are inside of the operand is computed once for
/// all rows. Those are copied without masks. The few others are filled in whole vectors before; one by one, where some
/// of several phases are inside.
struct Row {
  int64_t phases = 1;
  int64_t border = 0;        ///< the place of column 0
  int64_t shift = 0;         ///< the phase of position 0, which is in place 0
  int64_t places = 0;        ///< that are read
  int64_t first = 0, count;  ///< of the places that have columns
  int64_t lead = 0;          ///< elements in front of place 0

  Row(const WindowDim& dim, int64_t step, int64_t lanes) : phases(step) {
    shift = (*dim.base % phases + phases) % phases;
    border = (shift - *dim.base) / phases;
    places = (dim.extent + shift + phases - 1) / phases;
    count = places;
    if (!dim.is_fixed()) return;
    first = std::max<int64_t>(0, border);
    count = std::max<int64_t>(0, std::min(places, border + (*dim.length + phases - 1) / phases) - first);
    lead = 2 * count > lanes ? (lanes - first % lanes) % lanes : 0;
  }
  int64_t end() const { return first + count; }
};

int64_t round_up(int64_t size, int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

/// The copy is made before `loop`: all that decides which element is read surrounds it, or is a loop of the window,
/// and nothing in it stores to what is copied.
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

/// How many positions of the dim are read, by loops as long as they are at the time.
Expr positions_of(const Tree& tree, const WindowDim& dim) {
  Expr count = tree.context().index(1);
  for (const auto& [id, step] : dim.steps) count = count + (tree.loop(id).extent - 1) * step;
  return arith::simplify(count);
}

/// The copy of a window before a loop, and the block that reads it.
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
  /// Rows that are slid over come first, then what is only summed over; behind them the phases of a row, and the row.
  void order_dims() {
    positions_[static_cast<size_t>(&along_row_ - window_.dims.data())] = context_.var("position");
    for (bool slides : {true, false})
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
    const int64_t beyond = along_row_.is_fixed() ? row_.places - row_.end() : lanes;
    const int64_t right = row_.end() + round_up(std::max<int64_t>(0, beyond), lanes);
    shape.push_back(context_.index(row_.phases));
    shape.push_back(context_.index(round_up(row_.lead + std::max({row_.places, right, row_.first}), lanes)));
    return shape;
  }

  /// In the copy of the row that `rows_` say.
  Indices place(Expr phase, Expr at) const {
    Indices to(rows_.begin(), rows_.end());
    to.push_back(phase), to.push_back(at);
    return to;
  }

  /// Its border is whole vectors, and the columns are written over what they have too much.
  Stmt copy_nest() {
    const Stmt inner = columns();
    Stmt copy = build_.seq({border(0, row_.first), border(row_.lead + row_.end(), row_.places - row_.end()), inner});
    for (size_t i = rows_.size(); i-- > 0;) copy = make_stmt(context_, new_loop(context_, rows_[i], extents_[i], copy));
    return copy;
  }

  /// What is where the operand has no element.
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

  /// A loop over places, and in it one over the phases of a place.
  For over_places(Expr count, const std::function<Stmt(Var along, Var phase)>& store) const {
    const Var along = context_.var("along"), phase = context_.var("phase");
    For phases = new_loop(context_, phase, context_.index(row_.phases), store(along, phase));
    phases.loop_kind = LoopKind::kUnrolled;
    return new_loop(context_, along, count, make_stmt(context_, std::move(phases)));
  }

  /// The loop that will be in vectors, over `count` places from `begin` on.
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
    if (!along_row_.is_fixed()) return open_columns();
    return whole_places(context_.index(row_.lead + row_.first), context_.index(row_.count), [&](Var along, Var phase) {
      arith::Facts inner;
      inner.bound(along, {0, std::max<int64_t>(row_.count, 1) - 1});
      inner.bound(phase, {0, row_.phases - 1});
      const Column column = column_at(along, phase);
      const Expr inside = arith::simplify(column.inside, inner);
      return inside.is_constant(1) ? column.value : arith::select(inside, column.value, outside());
    });
  }

  /// The places whose phases are all inside of the operand, and those in front of them and behind.
  Stmt open_columns() {
    const Expr zero = context_.index(0), all = places_along_row();
    Expr start = context_.index(-row_.border * row_.phases);
    if (along_row_.moving) start = start + along_row_.moving;
    const Expr length = window_.load->buffer->shape[along_row_.axis];
    const Expr first = arith::max(zero, arith::ceildiv(zero - start, row_.phases));
    const Expr begin = arith::simplify(arith::min(first, all));
    const Expr last = arith::min(all, arith::floordiv(length - start, row_.phases));
    const Expr end = arith::simplify(arith::max(last, begin));
    const Stmt whole = whole_places(begin, arith::simplify(end - begin), [&](Var along, Var phase) {
      return column_inside(arith::simplify(along + begin), phase);
    });
    if (row_.phases > 1) return build_.seq({edge(zero, begin), edge(end, all), whole});
    return build_.seq({outside_places(zero, begin), outside_places(end, all), whole});
  }

  /// Places from `begin` to `end`, which are outside of the operand, in whole vectors.
  Stmt outside_places(Expr begin, Expr end) {
    const Expr count = arith::simplify(end - begin), lanes = context_.index(step_.lanes);
    if (count.is_constant(0)) return {};
    return build_.loop("vector", arith::simplify(arith::ceildiv(count, lanes)), [&](Var vector) {
      const Expr first = arith::simplify(begin + vector * lanes), zero = context_.index(0);
      auto store = [&](Var lane) { return build_.store(scratch_, place(zero, first + lane), outside()); };
      return build_.loop("lane", lanes, store, LoopKind::kVectorized);
    });
  }

  /// Places from `begin` to `end`, of which some phases may be outside of the operand.
  Stmt edge(Expr begin, Expr end) {
    const Expr count = arith::simplify(end - begin);
    if (count.is_constant(0)) return {};
    return make_stmt(context_, over_places(count, [&](Var along, Var phase) {
                       const Expr at = arith::simplify(along + begin);
                       const Column column = column_at(at, phase);
                       const Indices to = place(phase, at);
                       const Stmt inner = build_.store(scratch_, to, column.value);
                       return build_.seq({build_.store(scratch_, to, outside()),
                                          store_where(context_, arith::simplify(column.inside), along, inner)});
                     }));
  }

  /// Of a window that moves, the last one may have fewer places.
  Expr places_along_row() const {
    if (along_row_.is_fixed()) return context_.index(row_.count);
    return arith::simplify(arith::ceildiv(positions_of(tree_, along_row_) + row_.shift, row_.phases));
  }

  struct Column {
    Expr inside;  ///< of the operand
    Expr value;   ///< where it is
  };
  /// The column in place `along` of a phase.
  Column column_at(Expr along, Expr phase) const {
    Expr column = arith::simplify((along + row_.first - row_.border) * row_.phases + phase);
    const PlacedOperand operand = operand_in_row(arith::simplify(column - *along_row_.base));
    if (along_row_.moving) column = column + along_row_.moving;
    Expr inside = arith::lt(column, window_.load->buffer->shape[along_row_.axis]);
    if (operand.inside) inside = arith::logical_and(inside, operand.inside);
    return {inside, operand.value};
  }

  /// The element of a column that is known to be inside of the operand, if the row is; else what is outside.
  Expr column_inside(Expr along, Expr phase) const {
    const Expr position = positions_[static_cast<size_t>(&along_row_ - window_.dims.data())];
    Expr column = position + *along_row_.base;
    if (along_row_.moving) column = column + along_row_.moving;
    arith::Facts inner;
    inner.assume(arith::le(context_.index(0), column));
    inner.assume(arith::lt(column, window_.load->buffer->shape[along_row_.axis]));
    const PlacedOperand operand = operand_in_row(position);
    const Expr inside = operand.inside ? arith::simplify(operand.inside, inner) : Expr();
    const bool everywhere = !inside || inside.is_constant(1);
    const Expr value = everywhere ? operand.value : arith::select(inside, operand.value, outside());
    const Expr there = (along - row_.border) * row_.phases + phase - *along_row_.base;
    return arith::substitute(value, {{position, arith::simplify(there)}});
  }

  PlacedOperand operand_in_row(Expr position) const {
    std::vector<Expr> positions = positions_;
    positions[static_cast<size_t>(&along_row_ - window_.dims.data())] = position;
    return operand_at(tree_, window_, positions);
  }

  /// Where the block finds in the copy what it read of the operand. Asked when all positions are known.
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
  std::vector<size_t> order_;    ///< dims of the window, except that of the row, as the copy has them
  std::vector<Var> rows_;        ///< of the copy's loops over those
  std::vector<Expr> extents_;    ///< of these loops
  std::vector<Expr> positions_;  ///< that the copy's loops are at, one a dim of the window
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
