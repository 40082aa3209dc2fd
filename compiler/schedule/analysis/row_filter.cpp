// row_filter.cpp: recognizes convolutions by filters of three rows, from the subscripts of a reduction.
#include "compiler/schedule/analysis/row_filter.h"

#include <algorithm>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/decompose_reduction.h"
#include "compiler/schedule/winograd_transform.h"

namespace relaxc::schedule {
namespace {

class Reading {
 public:
  Reading(const Tree& tree, const ReductionGroup& group)
      : tree_(tree),
        group_(group),
        constants_(tree.constants_of(group.statements())),
        nest_(analysis::as_nest(group.reduction)),
        filter_{.window = {}} {}

  std::optional<RowFilter> run() {
    if (!collect_loops()) return {};
    const Legal<Stmt> sum = update_in_loops(tree_, nest_.block->id, reduced_[0]);
    if (!sum) return {};
    const auto& store = *sum->as<tir::Store>();
    Update update = update_of(store);
    const auto* product = update.value ? update.value.as<arith::Mul>() : nullptr;
    if (product == nullptr || update.kind != arith::ExprKind::kAdd || store.buffer->dtype != DType::f(32)) return {};
    for (size_t i = 0; i < spatial_.size(); ++i)
      if (!(store.indices[i] == tree_.loop(spatial_[i]).var)) return {};
    auto window = window_of(tree_, store, spatial_, reduced_, most_iterations());
    if (!window || !(product->a == window->node || product->b == window->node)) return {};
    filter_.window = std::move(*window);
    filter_.result = store.buffer;
    bool known = read_window() && read_weight(product->a == filter_.window.node ? product->b : product->a);
    return known ? std::optional(std::move(filter_)) : std::nullopt;
  }

 private:
  bool collect_loops() {
    const auto* init = nest_.block->init.as<tir::Store>();
    const auto* zero = init->value.as<arith::FloatImm>();
    if (zero == nullptr || zero->value != 0) return false;
    for (const tir::For* loop : nest_.loops) {
      bool reduces = std::any_of(nest_.block->iters.begin(), nest_.block->iters.end(), [&](const tir::IterVar& i) {
        return i.binding == loop->var && i.iter_kind == tir::IterKind::kReduce;
      });
      if (!reduces && !reduced_.empty()) return false;
      (reduces ? reduced_ : spatial_).push_back(loop->id);
    }
    if (spatial_.size() != 4 || reduced_.size() != 3) return false;
    std::vector<uint32_t> known = reduced_;
    known.push_back(spatial_[1]);
    return std::all_of(known.begin(), known.end(),
                       [&](uint32_t loop) { return tree_.loop(loop).extent.constant() != nullptr; });
  }

  /// Bounds open extents, so that the window has an extent; no decision depends on the number.
  MostIterations most_iterations() const {
    constexpr int64_t kBlock = 64;
    MostIterations most;
    for (uint32_t loop : spatial_)
      if (tree_.loop(loop).extent.constant() == nullptr) most[loop] = kBlock;
    return most;
  }

  int64_t extent(uint32_t loop) const { return *tree_.loop(loop).extent.constant(); }

  /// The dim in which the result's loop moves the window by 1, if any; sets `taps` to the loop over its taps.
  std::optional<size_t> sliding_dim(uint32_t loop, uint32_t& taps) const {
    for (size_t d = 0; d < filter_.window.dims.size(); ++d) {
      const WindowDim& dim = filter_.window.dims[d];
      if (filter_.window.dim_of(loop) != &dim || dim.steps.size() != 2 || !dim.base || dim.moving) continue;
      if (dim.steps[0].second != 1 || dim.steps[1].second != 1) continue;
      taps = dim.steps[0].first;  // loops of the reduction come first
      return d;
    }
    return {};
  }

  bool read_window() {
    const Window& window = filter_.window;
    if (window.dims.size() != 3 || window.sharing != std::vector<uint32_t>{spatial_[1]}) return false;
    if (window.guarded) {
      const auto* other = window.node.as<arith::Select>()->else_value.as<arith::FloatImm>();
      if (other == nullptr || other->value != 0) return false;
    }
    auto row = sliding_dim(spatial_[2], row_taps_), column = sliding_dim(spatial_[3], column_taps_);
    if (!row || !column || extent(row_taps_) != WinogradTransform::kTaps) return false;
    filter_.row_dim = *row, filter_.column_dim = *column, filter_.channel_dim = 3 - *row - *column;
    const WindowDim& channel = window.dims[filter_.channel_dim];
    if (channel.slides || channel.steps.size() != 1) return false;
    channel_ = channel.steps[0].first;
    const tir::For& batch = tree_.loop(spatial_[0]);
    filter_.batch = batch.var, filter_.batches = batch.extent;
    filter_.rows = tree_.loop(spatial_[2]).extent, filter_.columns = tree_.loop(spatial_[3]).extent;
    filter_.outputs = extent(spatial_[1]), filter_.channels = extent(channel_);
    filter_.column_taps = extent(column_taps_);
    auto is_empty = [](Expr dim) { return dim.constant() != nullptr && *dim.constant() <= 0; };
    return std::min({filter_.outputs, filter_.channels, filter_.column_taps}) > 0 && !is_empty(filter_.rows) &&
           !is_empty(filter_.columns);
  }

  bool read_weight(Expr factor) {
    const auto* load = factor.as<arith::Load>();
    if (load == nullptr || load->indices.size() != 4) return false;
    filter_.weight = load->buffer;
    auto own = std::find(constants_.begin(), constants_.end(), filter_.weight);
    if (own == constants_.end() || filter_.weight->dtype != DType::f(32)) return false;
    auto axis_of = [&](uint32_t loop, size_t& axis) {
      auto at = std::find(load->indices.begin(), load->indices.end(), Expr(tree_.loop(loop).var));
      if (at == load->indices.end()) return false;
      axis = static_cast<size_t>(at - load->indices.begin());
      return filter_.weight->shape[axis].is_constant(extent(loop));
    };
    for (Stmt consumer : group_.consumers)
      for_each_access(consumer,
                      [&](const Access& access) { own = access.buffer == filter_.weight ? constants_.end() : own; });
    return own != constants_.end() && axis_of(spatial_[1], filter_.output_axis) &&
           axis_of(channel_, filter_.channel_axis) && axis_of(row_taps_, filter_.tap_axis) &&
           axis_of(column_taps_, filter_.column_axis);
  }

  const Tree& tree_;
  const ReductionGroup& group_;
  const std::vector<BufferRef> constants_;
  const analysis::Nest nest_;
  RowFilter filter_;
  std::vector<uint32_t> spatial_, reduced_;
  uint32_t row_taps_ = 0, column_taps_ = 0, channel_ = 0;
};

}  // namespace

std::optional<RowFilter> row_filter_of(const Tree& s, const ReductionGroup& group) {
  return Reading(s, group).run();
}

}  // namespace relaxc::schedule
