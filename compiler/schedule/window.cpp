// window.cpp: rows of an image, copied to where a filter can slide over them.
//
// The problem: a filter reads each element of an image once a tap. If the image has a border, each of these reads needs
// a mask; if the filter moves by two, each is two vectors and a shuffle; and neighbouring channels lie a whole image
// apart, on another page each.
//
// The method: what some rows of the result read is copied to scratch memory first, border and all, one channel's row
// behind the other, and with as many phases of a row apart as the filter's step has. Every tap then is a plain vector.
// Rejected: an interior without masks and borders of their own: eight copies of the code of a tile, and images of 7 to
// 26 columns, which most layers have, are all border.
#include "compiler/schedule/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/arith/walks.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/legality.h"

namespace relaxc::schedule {

using arith::Load;
using tir::Block;
using tir::For;
using tir::Indices;
using tir::LoopKind;

const WindowDim* Window::dim_of(uint32_t loop) const {
  for (const WindowDim& dim : dims)
    for (const auto& [id, step] : dim.steps)
      if (id == loop) return &dim;
  return nullptr;
}

int64_t Window::step_of(uint32_t loop) const {
  for (const WindowDim& dim : dims)
    for (const auto& [id, step] : dim.steps)
      if (id == loop) return step;
  return 0;
}

namespace {

/// The loads of a value, each with the select that guards it if there is one.
std::vector<Expr> find_operands(Expr value) {
  std::vector<Expr> found;
  arith::for_each_reached(value, [&](Expr e) {
    const bool operand = e.as<arith::Select>() != nullptr || e.as<Load>() != nullptr;
    if (operand) found.push_back(e);
    return operand || e.dtype().is_index() ? std::vector<Expr>{} : arith::operands(e);
  });
  return found;
}

const Load* only_load(Expr e) {
  const Load* load = nullptr;
  size_t count = 0;
  arith::for_each_node(e, [&](Expr node) {
    if (const auto* one = node.as<Load>()) load = one, ++count;
  });
  return count == 1 ? load : nullptr;
}

/// Where each loop of a window goes: the loop that moves by one position stands for all of its dim.
struct Places {
  arith::Substitution at;    // from loops to positions
  arith::Substitution back;  // and what a position is
};

Places places_of(const Schedule& s, const Window& window, const std::vector<Expr>& positions) {
  Places places;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    bool placed = false;
    Expr sum;
    for (const auto& [id, step] : window.dims[d].steps) {
      Expr var = s.loop(id).var;
      bool carries = step == 1 && !placed;
      placed |= carries;
      places.at[var] = carries ? positions[d] : var.context().index(0);
      sum = sum ? sum + var * step : var * step;
    }
    places.back[positions[d]] = sum;
  }
  return places;
}

}  // namespace

PlacedOperand operand_at(const Schedule& s, const Window& window, const std::vector<Expr>& positions) {
  const arith::Substitution at = places_of(s, window, positions).at;
  const auto* select = window.node.as<arith::Select>();
  if (select == nullptr) return {{}, arith::substitute(window.node, at)};
  return {arith::substitute(select->condition, at),
          arith::substitute(without_clamps(select->then_value, select->condition), at)};
}

namespace {

class Search {
 public:
  Search(const Schedule& s, const std::vector<uint32_t>& spatial, const std::vector<uint32_t>& reduced)
      : s_(s), spatial_(spatial), reduced_(reduced) {}

  std::optional<Window> run(Expr node) {
    const auto* select = node.as<arith::Select>();
    const Load* load = only_load(select != nullptr ? select->then_value : node);
    if (load != nullptr) buffer_ = load->buffer;
    if (load == nullptr || load->buffer->scope == tir::Scope::kLocal || !node.dtype().is_float()) return {};
    Window window{node, load, select != nullptr, {}, {}};
    indices_ = load->indices;
    if (select != nullptr) {
      bool number = select->else_value.as<arith::FloatImm>() != nullptr;
      if (!number || only_load(node) == nullptr) return {};
      for (Expr& index : indices_) index = without_clamps(index, select->condition);
    }
    if (!collect(window) || !keeps_condition(window)) return {};
    return window;
  }

 private:
  /// What the loop does to each index; nothing where it is not linear.
  std::optional<std::vector<int64_t>> steps(uint32_t loop) const {
    std::vector<int64_t> all;
    for (Expr index : indices_) {
      auto step = schedule::step_of(index, s_.loop(loop).var);
      if (!step || *step < 0) return {};
      all.push_back(*step);
    }
    return all;
  }
  /// The one index that the loop changes; -1: none, or several.
  static int64_t place(const std::vector<int64_t>& steps) {
    int64_t found = -1;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] == 0) continue;
      if (found >= 0) return -1;
      found = static_cast<int64_t>(i);
    }
    return found;
  }

  bool collect(Window& window) {
    std::vector<WindowDim> dims(indices_.size());
    for (uint32_t loop : reduced_) {
      auto all = steps(loop);
      int64_t at = all ? place(*all) : -1;
      if (at < 0) return false;
      auto axis = static_cast<size_t>(at);
      dims[axis].steps.push_back({loop, (*all)[axis]});
    }
    for (uint32_t loop : spatial_) {
      auto all = steps(loop);
      if (!all) continue;
      if (std::all_of(all->begin(), all->end(), [](int64_t step) { return step == 0; })) {
        window.sharing.push_back(loop);
        continue;
      }
      int64_t at = place(*all);
      if (at < 0) continue;
      WindowDim& dim = dims[static_cast<size_t>(at)];
      if (dim.steps.empty()) continue;
      dim.slides = true;
      dim.steps.push_back({loop, (*all)[static_cast<size_t>(at)]});
    }
    bool slides = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].steps.empty()) continue;
      dims[i].axis = i;
      if (!measure(dims[i])) return false;
      locate(dims[i], window.node.context());
      slides |= dims[i].slides;
      window.dims.push_back(dims[i]);
    }
    return slides;
  }

  bool measure(WindowDim& dim) const {
    dim.grain = dim.steps[0].second;
    for (const auto& [loop, step] : dim.steps) dim.grain = std::min(dim.grain, step);
    for (auto& [loop, step] : dim.steps) {
      int64_t most = arith::bounds(s_.loop(loop).extent).upper;
      if (step % dim.grain != 0 || most == INT64_MAX) return false;
      step /= dim.grain;
      dim.extent += step * (std::max<int64_t>(most, 1) - 1);
    }
    return true;
  }

  void locate(WindowDim& dim, Context& context) const {
    arith::Substitution begin;
    for (const auto& [loop, step] : dim.steps) begin[s_.loop(loop).var] = context.index(0);
    Expr base = arith::simplify(arith::substitute(indices_[dim.axis], begin));
    const int64_t* length = buffer_->shape[dim.axis].constant();
    if (dim.grain != 1 || base.constant() == nullptr || length == nullptr) return;
    dim.base = *base.constant(), dim.length = *length;
  }

  /// The condition, too, depends on the places alone.
  bool keeps_condition(const Window& window) const {
    if (!window.guarded) return true;
    Expr condition = window.node.as<arith::Select>()->condition;
    std::vector<Expr> positions;
    for (size_t d = 0; d < window.dims.size(); ++d) positions.push_back(condition.context().var("position"));
    Places places = places_of(s_, window, positions);
    Expr there = arith::substitute(arith::substitute(condition, places.at), places.back);
    return arith::simplify(there) == arith::simplify(condition);
  }

  const Schedule& s_;
  const std::vector<uint32_t>&spatial_, &reduced_;
  BufferRef buffer_ = nullptr;
  std::vector<Expr> indices_;
};

}  // namespace

std::optional<Window> window_of(const Schedule& s, uint32_t block, const std::vector<uint32_t>& spatial,
                                const std::vector<uint32_t>& reduced) {
  const auto& store = *s.block(block).body.as<tir::Store>();
  for (Expr operand : find_operands(update_of(store).value))
    if (auto window = Search(s, spatial, reduced).run(operand)) return window;
  return {};
}

namespace {

/// Where a row of the operand stands in the copy: column c in place c / phases + border of phase c % phases, so that
/// the phases of one place are read together. In front of place 0 there is room for a border of whole vectors, so that
/// the columns are written to whole lines of cache; not where they fill half a vector at most, which would be a row of
/// several times the size.
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
    first = std::max<int64_t>(0, border);
    count = std::max<int64_t>(0, std::min(places, border + (*dim.length + phases - 1) / phases) - first);
    lead = 2 * count > lanes ? (lanes - first % lanes) % lanes : 0;
  }
  int64_t end() const { return first + count; }
};

int64_t round_up(int64_t size, int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

}  // namespace

/// The copy is made before `loop`: all that decides which element is read stands around it, or is a loop of the window,
/// and nothing in it stores to what is copied.
void Schedule::require_window(uint32_t block_id, const For& outermost, uint32_t vector, const Window& window) const {
  const WindowDim* row = window.dim_of(vector);
  bool fits = may_allocate_ && row != nullptr && row->slides && row->base && is_plain(outermost.body);
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
    fits &= store == nullptr || memory_of(store->buffer) != memory_of(window.load->buffer);
  });
  for (const WindowDim& dim : window.dims)
    for (const auto& [id, step] : dim.steps) {
      const auto around = loops_around(id);
      fits &= id == outermost.id ||
              std::any_of(around.begin(), around.end(), [&](const For* one) { return one->id == outermost.id; });
    }
  require(fits && blocks == 1, [&] {
    return fmt::format(
        "loop '{}' does not hold block '{}' and just the loops of its window, or the "
        "kernel has no scratch memory",
        loop_name(outermost.id), block_name(block_id));
  });
}

CachedWindow Schedule::cache_window(uint32_t block_id, uint32_t loop_id, uint32_t vector,
                                    const std::vector<uint32_t>& spatial, const std::vector<uint32_t>& reduced,
                                    int64_t lanes) {
  const auto* sum = block(block_id).body.as<tir::Store>();
  std::set<uint32_t> distinct(spatial.begin(), spatial.end());
  distinct.insert(reduced.begin(), reduced.end());
  const bool reads = sum != nullptr && !block(block_id).init && update_of(*sum).value && lanes > 0 && lanes <= 256 &&
                     distinct.size() == spatial.size() + reduced.size();
  const std::optional<Window> found = reads ? window_of(*this, block_id, spatial, reduced) : std::nullopt;
  require(found.has_value(),
          [&] { return fmt::format("block '{}' reads no window of an operand", block_name(block_id)); });
  const Window& window = *found;
  require_window(block_id, loop(loop_id), vector, window);
  note(fmt::format("cache_window {} {} {} {} {} {}", block_name(block_id), loop_name(loop_id), loop_name(vector),
                   loop_names(spatial), loop_names(reduced), lanes));
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
    Expr count = context_.index(1);
    for (const auto& [id, step] : window.dims[d].steps) count = count + (loop(id).extent - 1) * step;
    positions[d] = rows.emplace_back(context_.var("row"));
    shape.push_back(context_.index(window.dims[d].extent)), extents.push_back(arith::simplify(count));
  }
  int64_t right = row.end() + round_up(std::max<int64_t>(0, row.places - row.end()), lanes);
  shape.push_back(context_.index(row.phases));
  shape.push_back(context_.index(round_up(row.lead + std::max({row.places, right, row.first}), lanes)));
  BufferRef scratch = build_.buffer("window", window.node.dtype(), shape, tir::Scope::kGlobal, 64);

  // The copy. Its border is whole vectors, and the columns are written over what they have too much.
  CachedWindow made;
  auto place = [&](Expr phase, Expr at) {
    Indices to(rows.begin(), rows.end());
    to.push_back(phase), to.push_back(at);
    return to;
  };
  const auto* select = window.node.as<arith::Select>();
  Expr other = select != nullptr ? select->else_value : context_.zero(window.node.dtype());
  auto border = [&](int64_t begin, int64_t count) {
    if (count <= 0) return Stmt();
    return build_.nest({context_.index(row.phases), context_.index(round_up(count, lanes) / lanes)}, [&](auto& i) {
      return build_.loop(
          "lane", context_.index(lanes),
          [&](Var lane) { return build_.store(scratch, place(i[0], i[1] * lanes + begin + lane), other); },
          tir::LoopKind::kVectorized);
    });
  };
  Var along = context_.var("along"), phase = context_.var("phase");
  Expr column = arith::simplify((along + row.first - row.border) * row.phases + phase);
  positions[static_cast<size_t>(along_row - window.dims.data())] = arith::simplify(column - *along_row->base);
  const Places places = places_of(*this, window, positions);
  arith::Facts inner;
  inner.bound(along, {0, std::max<int64_t>(row.count, 1) - 1});
  inner.bound(phase, {0, row.phases - 1});
  const PlacedOperand operand = operand_at(*this, window, positions);
  Expr inside = arith::lt(column, context_.index(*along_row->length)), value = operand.value;
  if (operand.inside) inside = arith::logical_and(inside, operand.inside);
  inside = arith::simplify(inside, inner);
  Block columns;
  columns.name = "window";
  columns.body = build_.store(scratch, place(phase, along + (row.lead + row.first)),
                              inside.is_constant(1) ? value : arith::select(inside, value, other));
  Stmt body = build_.block(std::move(columns));
  made.block = body.as<Block>()->id;
  For phases = made_loop(phase, context_.index(row.phases), body);
  phases.loop_kind = LoopKind::kUnrolled;
  For places_loop = made_loop(along, context_.index(row.count), make_stmt(context_, std::move(phases)));
  made.along = places_loop.id;
  Stmt copy = build_.seq({border(0, row.first), border(row.lead + row.end(), row.places - row.end()),
                          make_stmt(context_, std::move(places_loop))});
  for (size_t i = rows.size(); i-- > 0;) copy = make_stmt(context_, made_loop(rows[i], extents[i], copy));

  // Its use.
  Indices at;
  for (size_t d : order) at.push_back(arith::simplify(places.back.at(positions[d])));
  Expr taps = context_.index(row.shift);
  for (const auto& [id, step] : along_row->steps)
    if (id != vector) taps = taps + loop(id).var * step;
  at.push_back(arith::simplify(arith::floormod(taps, row.phases)));
  at.push_back(loop(vector).var + arith::simplify(arith::floordiv(taps, row.phases) + row.lead));
  Expr use = build_.load(scratch, at);
  edit_block(block_id, [&](const Block& from) {
    Block to = from;
    to.body = tir::substitute(context_, from.body, {{window.node, use}});
    return make_stmt(context_, std::move(to));
  });
  edit_loop(loop_id, [&](const For& from) { return build_.alloc(scratch, build_.seq({copy, Stmt(&from)})); });
  return made;
}

}  // namespace relaxc::schedule
