// packed_words.cpp: see packed_words.h.
#include "compiler/schedule/primitives/packed_words.h"

#include <algorithm>

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using arith::Cast;
using arith::Load;
using tir::Block;
using tir::For;
using tir::Indices;

namespace {

/// The load that a cast widens to the dtype of the sum; null if `e` is something else.
const Load* widened_load(Expr e, DType sum) {
  const auto* cast = e.as<Cast>();
  return cast != nullptr && cast->dtype == sum ? cast->value.as<Load>() : nullptr;
}

struct Operands {
  const Load *a = nullptr, *b = nullptr;
};

/// The operands of a product; if `words` is given, `b` must be that buffer. If the form accepts two operands in either
/// order, the caller thus selects which one is in words.
Operands operands_of(const tir::Store& store, const WordForm& form, BufferRef words = nullptr) {
  Update update = update_of(store);
  const auto* product = update.value ? update.value.as<arith::Mul>() : nullptr;
  if (product == nullptr || update.kind != arith::ExprKind::kAdd) return {};
  for (bool swapped : {false, true}) {
    const Load* a = widened_load(swapped ? product->b : product->a, form.sum);
    const Load* b = widened_load(swapped ? product->a : product->b, form.sum);
    if (a == nullptr || b == nullptr || !form.multiplies(a->dtype, b->dtype)) continue;
    if (words == nullptr || b->buffer == words) return {a, b};
  }
  return {};
}

bool others_depend(const Load& load, size_t axis, Var var) {
  for (size_t i = 0; i < load.indices.size(); ++i)
    if (i != axis && depends_on(load.indices[i], var)) return true;
  return false;
}

/// Whether the last word overlaps the one before, so that nothing after the axis is read; in the last word, elements
/// that both have are 0 (Packing::words_extent).
bool overlaps(const WordsOf& of, const WordForm& form) {
  return of.extent > form.terms && of.extent % form.terms != 0;
}

/// The operand to pack: either may be the constant if both have one dtype; null if there is none.
BufferRef packable_operand(const Tree& tree, const tir::Store& store, const WordForm& form) {
  const Operands found = operands_of(store, form);
  if (found.a == nullptr || !form.multiplies(found.b->dtype, found.a->dtype)) return nullptr;
  for (const Load* load : {found.b, found.a})
    for (const Operand& operand : tree.operands())
      if (operand.buffer == load->buffer) return load->buffer;
  return nullptr;
}

}  // namespace

std::optional<WordsOf> find_words(const Tree& tree, uint32_t block, uint32_t loop, const WordForm& form) {
  const For& node = tree.loop(loop);
  const int64_t* extent = node.extent.constant();
  const auto* inner = node.body.as<Block>();
  if (extent == nullptr || *extent < 2 || inner == nullptr || inner->id != block) return {};
  const auto* store = inner->body.as<tir::Store>();
  if (store == nullptr) return {};
  Operands found = operands_of(*store, form, packable_operand(tree, *store, form));
  if (found.a == nullptr || found.a->indices.empty() || !found.a->buffer->strides.empty()) return {};
  size_t last = found.a->indices.size() - 1;
  // If the last word reads elements twice, these are multiplied by 0, which would turn an infinity into a NaN.
  bool side_by_side = *extent >= form.terms && (*extent % form.terms == 0 || form.sum.is_integer()) &&
                      step_of(found.a->buffer, found.a->indices, node.var) == 1;
  bool in_lanes = form.channels && *extent <= form.terms && !depends_on(found.a->indices[last], node.var) &&
                  !found.b->indices.empty() && found.a->indices[last] == found.b->indices.back() &&
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

Legal<WordFacts> words_of_sum(const Tree& tree, uint32_t block, uint32_t loop, const WordForm& form) {
  const std::optional<WordsOf> of = find_words(tree, block, loop, form);
  RELAXC_REQUIRE(of.has_value(), "this is not a sum of products of such numbers in whole words");
  RELAXC_REQUIRE(tree.loop(loop).loop_kind == tir::LoopKind::kSerial, "the reduction's loop is not in order");
  RELAXC_STEP(const size_t operand, own_operand(tree, of->buffer));
  size_t reads = 0;
  for_each_access(tree.root(), [&](const Access& access) { reads += access.buffer == of->buffer ? 1 : 0; });
  RELAXC_REQUIRE(reads == 1, of->buffer->name + " is read at several places");
  return WordFacts{*of, operand};
}

BufferRef sum_in_words(Tree& tree, uint32_t loop, const WordFacts& facts, const WordForm& form,
                       const std::function<Expr(std::span<const Expr> a, Expr word)>& make) {
  tir::Builder build(tree.context());
  const WordsOf* of = &facts.of;
  Operand& operand = tree.operands()[facts.operand];
  std::vector<Expr> shape = of->buffer->shape;
  int64_t words_along = (of->extent + form.terms - 1) / form.terms;
  shape[of->axis] = tree.context().index(words_along);
  BufferRef words = build.buffer(of->buffer->name + "_words", form.word(), std::move(shape), of->buffer->scope);
  operand.buffer = words;
  operand.made.words_axis = static_cast<int64_t>(of->axis), operand.made.words_extent = of->extent;
  operand.made.word_bytes = form.bytes;
  tree.edit_loop(loop, [&](const For& from) {
    Block sum = *from.body.as<Block>();
    const auto& store = *sum.body.as<tir::Store>();
    Operands operands = operands_of(store, form, of->buffer);
    For to = from;
    to.extent = tree.context().index(words_along);
    to.var = tree.context().var(from.var.name());
    std::vector<Expr> elements(static_cast<size_t>(form.terms));
    for (size_t i = 0; i < static_cast<size_t>(std::min(of->extent, form.terms)); ++i) {
      Expr first = to.var * form.terms;
      if (overlaps(*of, form)) first = arith::min(first, tree.context().index(of->extent - form.terms));
      Expr at = first + static_cast<int64_t>(i);
      Indices indices = operands.a->indices;
      for (Expr& index : indices) index = arith::substitute(index, {{from.var, at}});
      elements[i] = arith::cast(form.sum, build.load(operands.a->buffer, indices));
    }
    Indices indices = operands.b->indices;
    indices[of->axis] = to.var;
    Expr word = build.load(words, indices);
    sum.body = build.store(store.buffer, store.indices, update_of(store).own + make(elements, word));
    to.body = make_stmt(tree.context(), std::move(sum));
    return make_stmt(tree.context(), std::move(to));
  });
  return words;
}

}  // namespace relaxc::schedule
