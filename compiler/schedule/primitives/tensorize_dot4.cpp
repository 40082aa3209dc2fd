// tensorize_dot4.cpp: reductions of bytes in steps of four.
//
// A machine with a dot-product instruction multiplies four unsigned by four signed bytes and adds the products to an
// int32 in each lane. The lanes are another axis than the four, so the signed operand needs four neighbours along the
// reduction in one element: a packed constant has them for nothing. The unsigned operand is read as it lies if the
// reduction is its last axis. The taps of a depthwise window lie a pixel apart; but there each lane has a channel of
// its own, and its words are put together from a vector of channels for each tap. That takes three steps, of which
// pixels side by side share most, where three multiplications in 32 bits take six.
#include "compiler/schedule/primitives/tensorize_dot4.h"

#include <algorithm>
#include <optional>

#include "compiler/arith/dot.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using arith::Cast;
using arith::Load;
using tir::Block;
using tir::For;
using tir::Indices;

namespace {

/// The load of a byte that is widened to int32.
const Load* widened_byte(Expr e, DType dtype) {
  const auto* cast = e.as<Cast>();
  const Load* load = cast != nullptr && cast->dtype == DType::i(32) ? cast->value.as<Load>() : nullptr;
  return load != nullptr && load->dtype == dtype ? load : nullptr;
}

struct Operands {
  const Load *a = nullptr, *b = nullptr;
};
Operands operands_of(const tir::Store& store) {
  Update update = update_of(store);
  const auto* product = update.value ? update.value.as<arith::Mul>() : nullptr;
  if (product == nullptr || update.kind != arith::ExprKind::kAdd) return {};
  for (bool swapped : {false, true}) {
    const Load* a = widened_byte(swapped ? product->b : product->a, DType::u(8));
    const Load* b = widened_byte(swapped ? product->a : product->b, DType::i(8));
    if (a != nullptr && b != nullptr) return {a, b};
  }
  return {};
}

constexpr int64_t kBytes = 4;  ///< of a word

bool others_depend(const Load& load, size_t axis, Var var) {
  for (size_t i = 0; i < load.indices.size(); ++i)
    if (i != axis && depends_on(load.indices[i], var)) return true;
  return false;
}

}  // namespace

std::optional<WordsOf> can_tensorize_dot4(const Tree& tree, uint32_t block, uint32_t loop) {
  const For& node = tree.loop(loop);
  const int64_t* extent = node.extent.constant();
  const auto* inner = node.body.as<Block>();
  if (extent == nullptr || *extent < 2 || inner == nullptr || inner->id != block) return {};
  const auto* store = inner->body.as<tir::Store>();
  Operands found = store != nullptr ? operands_of(*store) : Operands{};
  if (found.a == nullptr || found.a->indices.empty() || !found.a->buffer->strides.empty()) return {};
  size_t last = found.a->indices.size() - 1;
  bool side_by_side = *extent % kBytes == 0 && step_of(found.a->indices[last], node.var) == 1 &&
                      !others_depend(*found.a, last, node.var);
  bool in_lanes = *extent <= kBytes && !depends_on(found.a->indices[last], node.var) && !found.b->indices.empty() &&
                  found.a->indices[last] == found.b->indices.back() &&
                  found.a->indices[last].as<arith::VarNode>() != nullptr;
  if (!side_by_side && !in_lanes) return {};
  for (size_t axis = 0; axis < found.b->indices.size(); ++axis) {
    const int64_t* dim = found.b->buffer->shape[axis].constant();
    if (!(found.b->indices[axis] == node.var) || others_depend(*found.b, axis, node.var)) continue;
    if (dim == nullptr || *dim != *extent) return {};
    return WordsOf{found.b->buffer, axis, *extent, in_lanes};
  }
  return {};
}

Legal<TensorizeDot4::Facts> TensorizeDot4::legal(const Tree& tree) const {
  const std::optional<WordsOf> of = can_tensorize_dot4(tree, block, loop);
  RELAXC_REQUIRE(of.has_value(), "this is no sum of products of bytes in whole words");
  RELAXC_REQUIRE(tree.loop(loop).loop_kind == tir::LoopKind::kSerial, "the reduction's loop is not in order");
  RELAXC_STEP(const size_t operand, own_operand(tree, of->buffer));
  size_t reads = 0;
  for_each_access(tree.root(), [&](const Access& access) { reads += access.buffer == of->buffer ? 1 : 0; });
  RELAXC_REQUIRE(reads == 1, of->buffer->name + " is read at several places");
  return Facts{*of, operand};
}

TensorizeDot4::Made TensorizeDot4::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  const WordsOf* of = &facts.of;
  Operand& operand = tree.operands()[facts.operand];
  std::vector<Expr> shape = of->buffer->shape;
  int64_t words_along = (of->extent + kBytes - 1) / kBytes;
  shape[of->axis] = tree.context().index(words_along);
  BufferRef words = build.buffer(of->buffer->name + "_words", DType::i(32), std::move(shape), of->buffer->scope);
  operand.buffer = words;
  operand.made.words_axis = static_cast<int64_t>(of->axis), operand.made.words_extent = of->extent;
  tree.edit_loop(loop, [&](const For& from) {
    Block sum = *from.body.as<Block>();
    const auto& store = *sum.body.as<tir::Store>();
    Operands operands = operands_of(store);
    For to = from;
    to.extent = tree.context().index(words_along);
    to.var = tree.context().var(from.var.name());
    arith::Dot4 dot;
    for (size_t i = 0; i < static_cast<size_t>(std::min(of->extent, kBytes)); ++i) {
      Expr at = to.var * kBytes + static_cast<int64_t>(i);
      Indices indices = operands.a->indices;
      for (Expr& index : indices) index = arith::substitute(index, {{from.var, at}});
      dot.a[i] = arith::cast(DType::i(32), build.load(operands.a->buffer, indices));
    }
    Indices indices = operands.b->indices;
    indices[of->axis] = to.var;
    dot.b = build.load(words, indices);
    sum.body = build.store(store.buffer, store.indices, update_of(store).own + arith::dot4(dot));
    to.body = make_stmt(tree.context(), std::move(sum));
    return make_stmt(tree.context(), std::move(to));
  });
  return words;
}

}  // namespace relaxc::schedule
