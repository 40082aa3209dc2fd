// window.cpp: recognizes the part of an operand over which a filter slides; cache_window copies it to scratch memory.
//
// The problem: a filter reads each element of an image once for each tap. If the image has a border, each of these
// reads needs a mask; if the filter moves by two, each read is two vectors and a shuffle; and adjacent channels are a
// whole image apart, each on another page.
//
// The method: the input of some rows of the result is first copied to scratch memory, including the border, one
// channel's row after another, and split into as many phases of a row as the filter's step. Then every tap is a plain
// vector. Rejected: an interior without masks plus separate borders: this takes eight copies of a tile's code, and
// images of 7 to 26 columns, which most layers have, are all border.
#include "compiler/schedule/analysis/window.h"

#include <algorithm>

#include "compiler/arith/walks.h"
#include "compiler/schedule/tree/edit.h"

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

/// The loads in a value, or the selects that guard them.
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

}  // namespace

Places places_of(const Tree& s, const Window& window, const std::vector<Expr>& positions) {
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

PlacedOperand operand_at(const Tree& s, const Window& window, const std::vector<Expr>& positions) {
  const arith::Substitution at = places_of(s, window, positions).at;
  const auto* select = window.node.as<arith::Select>();
  if (select == nullptr) return {{}, arith::substitute(window.node, at)};
  return {arith::substitute(select->condition, at),
          arith::substitute(without_clamps(select->then_value, select->condition), at)};
}

namespace {

class Search {
 public:
  Search(const Tree& s, const std::vector<uint32_t>& spatial, const std::vector<uint32_t>& reduced,
         const MostIterations& most)
      : s_(s), spatial_(spatial), reduced_(reduced), most_(most) {}

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
  /// How much the loop changes each index; nullopt if one is not linear in it.
  std::optional<std::vector<int64_t>> steps(uint32_t loop) const {
    std::vector<int64_t> all;
    for (Expr index : indices_) {
      auto step = schedule::step_of(index, s_.loop(loop).var);
      if (!step || *step < 0) return {};
      all.push_back(*step);
    }
    return all;
  }
  /// The only index that the loop changes; -1 if there is none or several.
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
      if (auto cut = most_.find(loop); cut != most_.end()) most = std::min(most, cut->second);
      if (step % dim.grain != 0 || most == INT64_MAX) return false;
      step /= dim.grain;
      dim.extent += step * (std::max<int64_t>(most, 1) - 1);
    }
    return true;
  }

  void locate(WindowDim& dim, Context& context) const {
    arith::Substitution begin;
    for (const auto& [loop, step] : dim.steps) begin[s_.loop(loop).var] = context.index(0);
    const Expr start = arith::simplify(arith::substitute(indices_[dim.axis], begin));
    if (dim.grain != 1) return;
    arith::Substitution outside;
    arith::for_each_node(start, [&](Expr node) {
      if (node.as<arith::VarNode>() != nullptr) outside[node] = context.index(0);
    });
    const Expr base = arith::simplify(arith::substitute(start, outside));
    if (base.constant() == nullptr) return;
    dim.base = *base.constant();
    if (const Expr moving = arith::simplify(start - base); !moving.is_constant(0)) dim.moving = moving;
    if (const int64_t* length = buffer_->shape[dim.axis].constant()) dim.length = *length;
  }

  /// Whether the condition, too, depends only on the positions.
  bool keeps_condition(const Window& window) const {
    if (!window.guarded) return true;
    Expr condition = window.node.as<arith::Select>()->condition;
    std::vector<Expr> positions;
    for (size_t d = 0; d < window.dims.size(); ++d) positions.push_back(condition.context().var("position"));
    Places places = places_of(s_, window, positions);
    Expr there = arith::substitute(arith::substitute(condition, places.at), places.back);
    const Expr same = arith::simplify(condition);
    return arith::simplify(there) == same;
  }

  const Tree& s_;
  const std::vector<uint32_t>&spatial_, &reduced_;
  const MostIterations& most_;
  BufferRef buffer_ = nullptr;
  std::vector<Expr> indices_;
};

}  // namespace

std::optional<Window> window_of(const Tree& s, const tir::Store& sum, const std::vector<uint32_t>& spatial,
                                const std::vector<uint32_t>& reduced, const MostIterations& most) {
  for (Expr operand : find_operands(update_of(sum).value))
    if (auto window = Search(s, spatial, reduced, most).run(operand)) return window;
  return {};
}

std::optional<Window> window_of(const Tree& s, uint32_t block, const std::vector<uint32_t>& spatial,
                                const std::vector<uint32_t>& reduced, const MostIterations& most) {
  return window_of(s, *s.block(block).body.as<tir::Store>(), spatial, reduced, most);
}

}  // namespace relaxc::schedule
