// cache_window.cpp: see cache_window.h.
#include "compiler/schedule/primitives/cache_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;
using tir::Indices;
using tir::LoopKind;

namespace {

/// Where a row of the operand stands in the copy: column c in place c / phases + border of phase c % phases, so that
/// the phases of one place are read together. In front of place 0 there is room for a border of whole vectors, so that
/// the columns are written to whole lines of cache; not where they fill half a vector at most, which would be a row of
/// several times the size.
/// Where the window moves along the operand, or the operand's end is not known, every place may be outside of it: all
/// of them are written, each under a mask, and columns count from where the window has moved to.
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

/// The copy is made before `loop`: all that decides which element is read stands around it, or is a loop of the window,
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
  tir::Builder build(tree.context());
  const WindowDim* along_row = window.dim_of(vector);
  const Row row(*along_row, window.step_of(vector), lanes);
  // Rows that are slid over come first, then what is only summed over, then the phases of a row, and the row.
  std::vector<size_t> order;
  for (bool slides : {true, false})
    for (size_t d = 0; d < window.dims.size(); ++d)
      if (window.dims[d].slides == slides && &window.dims[d] != along_row) order.push_back(d);
  std::vector<Expr> positions(window.dims.size()), shape, extents;
  std::vector<Var> rows;
  for (size_t d : order) {
    positions[d] = rows.emplace_back(tree.context().var("row"));
    shape.push_back(tree.context().index(window.dims[d].extent)), extents.push_back(positions_of(tree, window.dims[d]));
  }
  int64_t right = row.end() + round_up(std::max<int64_t>(0, row.places - row.end()), lanes);
  shape.push_back(tree.context().index(row.phases));
  shape.push_back(tree.context().index(round_up(row.lead + std::max({row.places, right, row.first}), lanes)));
  BufferRef scratch = build.buffer("window", window.node.dtype(), shape, tir::Scope::kGlobal, 64);

  // The copy. Its border is whole vectors, and the columns are written over what they have too much.
  CachedWindow made;
  auto place = [&](Expr phase, Expr at) {
    Indices to(rows.begin(), rows.end());
    to.push_back(phase), to.push_back(at);
    return to;
  };
  const auto* select = window.node.as<arith::Select>();
  Expr other = select != nullptr ? select->else_value : tree.context().zero(window.node.dtype());
  auto border = [&](int64_t begin, int64_t count) {
    if (count <= 0) return Stmt();
    return build.nest(
        {tree.context().index(row.phases), tree.context().index(round_up(count, lanes) / lanes)}, [&](auto& i) {
          return build.loop(
              "lane", tree.context().index(lanes),
              [&](Var lane) { return build.store(scratch, place(i[0], i[1] * lanes + begin + lane), other); },
              tir::LoopKind::kVectorized);
        });
  };
  Var along = tree.context().var("along"), phase = tree.context().var("phase");
  Expr column = arith::simplify((along + row.first - row.border) * row.phases + phase);
  positions[static_cast<size_t>(along_row - window.dims.data())] = arith::simplify(column - *along_row->base);
  if (along_row->moving) column = column + along_row->moving;
  const Places places = places_of(tree, window, positions);
  arith::Facts inner;
  inner.bound(along, {0, std::max<int64_t>(row.count, 1) - 1});
  inner.bound(phase, {0, row.phases - 1});
  const PlacedOperand operand = operand_at(tree, window, positions);
  Expr inside = arith::lt(column, window.load->buffer->shape[along_row->axis]), value = operand.value;
  if (operand.inside) inside = arith::logical_and(inside, operand.inside);
  inside = arith::simplify(inside, inner);
  Block columns;
  columns.name = "window";
  columns.body = build.store(scratch, place(phase, along + (row.lead + row.first)),
                             inside.is_constant(1) ? value : arith::select(inside, value, other));
  Stmt body = build.block(std::move(columns));
  made.block = body.as<Block>()->id;
  For phases = made_loop(tree.context(), phase, tree.context().index(row.phases), body);
  phases.loop_kind = LoopKind::kUnrolled;
  // Of a window that moves, the last one may have fewer places.
  Expr count = tree.context().index(row.count);
  if (!along_row->is_fixed())
    count = arith::simplify(arith::ceildiv(positions_of(tree, *along_row) + row.shift, row.phases));
  For places_loop = made_loop(tree.context(), along, count, make_stmt(tree.context(), std::move(phases)));
  made.along = places_loop.id;
  Stmt copy = build.seq({border(0, row.first), border(row.lead + row.end(), row.places - row.end()),
                         make_stmt(tree.context(), std::move(places_loop))});
  for (size_t i = rows.size(); i-- > 0;)
    copy = make_stmt(tree.context(), made_loop(tree.context(), rows[i], extents[i], copy));

  // Its use.
  Indices at;
  for (size_t d : order) at.push_back(arith::simplify(places.back.at(positions[d])));
  Expr taps = tree.context().index(row.shift);
  for (const auto& [id, step] : along_row->steps)
    if (id != vector) taps = taps + tree.loop(id).var * step;
  at.push_back(arith::simplify(arith::floormod(taps, row.phases)));
  at.push_back(tree.loop(vector).var + arith::simplify(arith::floordiv(taps, row.phases) + row.lead));
  Expr use = build.load(scratch, at);
  tree.edit_block(block, [&](const Block& from) {
    Block to = from;
    to.body = tir::substitute(tree.context(), from.body, {{window.node, use}});
    return make_stmt(tree.context(), std::move(to));
  });
  tree.edit_loop(loop, [&](const For& from) { return build.alloc(scratch, build.seq({copy, Stmt(&from)})); });
  return made;
}

}  // namespace relaxc::schedule
