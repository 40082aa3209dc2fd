// softmax_roles.cpp: recognizes the maximum of a row, exponentials relative to it, and their sums.
//
// The nests are read as they are: a softmax has exp(x - row_max) after a maximum of the same x. Every other use of
// these exponentials must be a sum in which they are a factor, or a product with a factor of the row, by which the sums
// can be multiplied instead.
#include "compiler/schedule/analysis/softmax_roles.h"

#include <algorithm>
#include <limits>

#include "compiler/arith/walks.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/analysis/nests.h"

namespace relaxc::schedule {

using analysis::Nest;
using tir::Indices;

namespace {

bool is_number_zero(Expr e) {
  const auto* number = e.as<arith::FloatImm>();
  return number != nullptr && number->value == 0;
}

/// Subscript `place` of two, if it is just a variable; else null.
Var var_at(const Indices& indices, size_t place) {
  return indices.size() == 2 ? Var(indices[place].as<arith::VarNode>()) : Var();
}

}  // namespace

Var SoftmaxRoles::key_of(const Nest& nest) const {
  if (is_column(nest.store->buffer)) return var_at(nest.store->indices, 1);
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kReduce) return iter.var;
  return {};
}

bool SoftmaxRoles::has_normalizer(const Nest& nest) const {
  auto found = normalizers_.find(nest.store->buffer);
  return found != normalizers_.end() && found->second.value;
}

Expr SoftmaxRoles::finished(const Nest& nest, Expr row, Expr sum) const {
  const Normalizer& normalizer = normalizers_.at(nest.store->buffer);
  const arith::Substitution at{{normalizer.row, row}};
  Expr product = sum * arith::substitute(normalizer.value, at);
  return normalizer.empty
             ? arith::select(arith::substitute(normalizer.empty, at), sum.context().zero(sum.dtype()), product)
             : product;
}

bool SoftmaxRoles::are_nests() const {
  return std::all_of(nests_.begin(), nests_.end(), [](const Nest& nest) {
    return nest.block != nullptr && is_normal(nest) && nest.store->indices.size() == 2 &&
           nest.store->buffer->shape.size() == 2 && var_at(nest.store->indices, 0) && var_at(nest.store->indices, 1);
  });
}

const Nest* SoftmaxRoles::maker_of(BufferRef buffer, const Nest* before) const {
  const Nest* found = nullptr;
  for (const Nest& nest : nests_) {
    if (&nest == before) break;
    if (nest.store->buffer == buffer) found = &nest;
  }
  return found;
}

/// relaxc's operators call exp_nonpositive; prim funcs that a program brings along call exp.
static bool is_exponential(arith::Intrinsic intrinsic) {
  return intrinsic == arith::Intrinsic::k_exp || intrinsic == arith::Intrinsic::k_exp_nonpositive;
}

bool SoftmaxRoles::find_exps() {
  for (const Nest& nest : nests_) {
    const auto* exp = nest.store->value.as<arith::Call>();
    if (nest.block->init || exp == nullptr || !is_exponential(exp->intrinsic)) continue;
    const auto* shifted = exp->args[0].as<arith::Sub>();
    const auto* row_max = shifted == nullptr ? nullptr : shifted->b.as<arith::Load>();
    if (row_max == nullptr || row_max->indices.size() != 2 || !(row_max->indices[0] == nest.store->indices[0]))
      continue;
    const Nest* maximum = maker_of(row_max->buffer, &nest);
    if (maximum == nullptr || !is_maximum(*maximum, shifted->a, nest)) continue;
    exps_ = &nest, maximum_ = maximum, row_max_ = row_max->buffer;
    return true;
  }
  return false;
}

bool SoftmaxRoles::is_maximum(const Nest& nest, Expr element, const Nest& exps) {
  if (!is_reduction(nest) || !max_is_neutral(nest)) return false;
  const Update update = update_of(*nest.store);
  std::vector<const tir::IterVar*> reduced;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kReduce) reduced.push_back(&iter);
  if (!update.value || update.kind != arith::ExprKind::kMax || reduced.size() != 1) return false;
  keys_ = reduced[0]->extent;
  return arith::substitute(update.value, {{var_at(nest.store->indices, 0), exps.store->indices[0]},
                                          {reduced[0]->var, exps.store->indices[1]}}) == element;
}

bool SoftmaxRoles::max_is_neutral(const Nest& nest) {
  const auto* init = nest.block->init.as<tir::Store>()->value.as<arith::FloatImm>();
  return init != nullptr && init->value == -std::numeric_limits<double>::infinity();
}

bool SoftmaxRoles::is_made(BufferRef buffer) const {
  return std::any_of(nests_.begin(), nests_.end(), [&](const Nest& nest) { return nest.store->buffer == buffer; });
}

bool SoftmaxRoles::find_columns() {
  columns_.insert(exps_->store->buffer);
  for (bool grew = true; grew;) {
    grew = false;
    for (const Nest& nest : nests_) {
      const Var own = var_at(nest.store->indices, 1);
      const bool is_own = is_column(nest.store->buffer);
      for_each_access(Stmt(nest.block), [&](const Access& access) {
        if (access.is_store || !is_made(access.buffer) || !(var_at(access.indices, 1) == own)) return;
        if (is_own) grew |= columns_.insert(access.buffer).second;
        if (!is_own && is_column(access.buffer)) grew |= columns_.insert(nest.store->buffer).second;
      });
    }
  }
  return std::all_of(nests_.begin(), nests_.end(), [&](const Nest& nest) {
    return !is_column(nest.store->buffer) || arith::prove_equal(nest.store->buffer->shape[1], keys_);
  });
}

bool SoftmaxRoles::reads_in_order(const Nest& nest, Var key, bool& any) const {
  bool in_order = true;
  for_each_access(Stmt(nest.block), [&](const Access& access) {
    if (!is_column(access.buffer)) return;
    any = true;
    in_order &= access.indices[0] == nest.store->indices[0] && key && access.indices[1] == key;
  });
  return in_order;
}

bool SoftmaxRoles::reads_any(Expr e, const std::set<BufferRef>& buffers) const {
  bool found = false;
  arith::for_each_node(e, [&](Expr node) {
    const auto* load = node.as<arith::Load>();
    found |= load != nullptr && buffers.count(load->buffer) != 0;
  });
  return found;
}

bool SoftmaxRoles::give_roles() {
  for (size_t i = 0; i < nests_.size(); ++i) {
    std::optional<Role> role = role_of(i);
    if (!role) return false;
    roles_.push_back(*role);
    const bool whole = *role == Role::kRowMax || *role == Role::kSum || *role == Role::kReduce || *role == Role::kAfter;
    if (whole) totals_.insert(nests_[i].store->buffer);
  }
  return true;
}

std::optional<Role> SoftmaxRoles::role_of(size_t i) {
  const Nest& nest = nests_[i];
  const bool fills = i + 1 < nests_.size() && is_reduction(nests_[i + 1]) && initializes(nest, nests_[i + 1]);
  if (fills) return reduces_keys(nests_[i + 1]) ? Role::kFill : Role::kBefore;
  const bool in_columns = is_column(nest.store->buffer);
  bool reads_columns = false;
  const Var key = in_columns || reduces_keys(nest) ? key_of(nest) : Var();
  if (!reads_in_order(nest, key, reads_columns)) return {};
  if (&nest == maximum_) return Role::kRowMax;
  if (in_columns) return role_of_columns(nest);
  if (reads_columns) return role_of_reduction(nest);
  return reads_any(nest.store->value, totals_) ? Role::kAfter : Role::kBefore;
}

bool SoftmaxRoles::reduces_keys(const Nest& nest) const {
  if (!is_reduction(nest) || is_column(nest.store->buffer)) return false;
  size_t axes = 0;
  bool keys = false;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kReduce) ++axes, keys = arith::prove_equal(iter.extent, keys_);
  bool any = false;
  return axes == 1 && keys && (reads_in_order(nest, key_of(nest), any), any);
}

std::optional<Role> SoftmaxRoles::role_of_columns(const Nest& nest) {
  BufferRef own = nest.store->buffer;
  if (&nest == exps_) {
    relative_[own] = {};
    return Role::kColumns;
  }
  std::set<BufferRef> relative;
  for (const auto& [buffer, none] : relative_) relative.insert(buffer);
  if (!reads_any(nest.store->value, relative))
    return reads_any(nest.store->value, totals_) || relative_.count(own) != 0 ? std::nullopt
                                                                              : std::optional(Role::kColumns);
  return nest.block->init ? std::nullopt : role_of_normalizing(nest, relative);
}

std::optional<Role> SoftmaxRoles::role_of_normalizing(const Nest& nest, const std::set<BufferRef>& relative) {
  const auto* select = nest.store->value.as<arith::Select>();
  if (select != nullptr && !is_number_zero(select->then_value)) return {};
  const Expr empty = select != nullptr ? select->condition : Expr();
  const auto* product = (select != nullptr ? select->else_value : nest.store->value).as<arith::Mul>();
  if (product == nullptr) return {};
  Expr exp = product->a, normalizer = product->b;
  const auto* load = exp.as<arith::Load>();
  if (load == nullptr) std::swap(exp, normalizer), load = exp.as<arith::Load>();
  if (load == nullptr || load->buffer != nest.store->buffer || relative.count(load->buffer) == 0) return {};
  auto is_of_row = [&](Expr e) { return !reads_any(e, columns_) && !depends_on(e, key_of(nest)); };
  if (!is_of_row(normalizer) || (empty && !is_of_row(empty)) || relative_[load->buffer].value) return {};
  relative_[load->buffer] = {normalizer, empty, var_at(nest.store->indices, 0)};
  return Role::kNormalize;
}

std::optional<Role> SoftmaxRoles::role_of_reduction(const Nest& nest) {
  const Update update = update_of(*nest.store);
  if (!update.value || !reduces_keys(nest) || !is_neutral(update.kind, nest.block->init.as<tir::Store>()->value))
    return {};
  std::set<BufferRef> relative;
  for (const auto& [buffer, none] : relative_) relative.insert(buffer);
  if (reads_any(update.value, totals_)) return {};
  if (!reads_any(update.value, relative)) return Role::kReduce;
  const DType dtype = nest.store->buffer->dtype;
  BufferRef exp = one_factor(update.value, relative);
  if (update.kind != arith::ExprKind::kAdd || !dtype.is_float() || dtype.bits < 32 || exp == nullptr) return {};
  normalizers_[nest.store->buffer] = relative_[exp];
  return Role::kSum;
}

BufferRef SoftmaxRoles::one_factor(Expr product, const std::set<BufferRef>& relative) const {
  BufferRef found = nullptr;
  arith::for_each_reached(product, [&](Expr e) -> std::vector<Expr> {
    const auto* load = e.as<arith::Load>();
    if (load != nullptr && relative.count(load->buffer) != 0) found = load->buffer;
    const auto* both = e.as<arith::Mul>();
    if (both == nullptr) return {};
    const bool in_a = reads_any(both->a, relative), in_b = reads_any(both->b, relative);
    if (in_a == in_b) return {};
    return {in_a ? both->a : both->b};
  });
  return found;
}

}  // namespace relaxc::schedule
