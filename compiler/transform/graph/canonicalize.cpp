// canonicalize.cpp: one form for things that are written in many, and nothing for things that do nothing.
//
// Each rule looks at one op and gives the value that can stand for its result, or null. Rules are local and always make
// the graph smaller or leave it as large, so running them until nothing changes ends. Rules that change bits (x + 0.0
// turns -0 into 0) are not here.
#include <algorithm>
#include <deque>

#include "compiler/relax/builder.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

struct Site {
  Op& op;
  GraphBuilder& builder;
  const arith::Facts& facts;

  Value* in(size_t index = 0) const { return op.operand(index); }
  /// The operator that made operand `index`, if it is one named `name`.
  Op* producer(size_t index, std::string_view name) const {
    Value* value = in(index);
    return value != nullptr && value->op != nullptr && value->op->is(name) ? value->op : nullptr;
  }
  bool same_shape(const Value& a, const Value& b) const {
    const auto &x = a.shape(), &y = b.shape();
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [&](Expr p, Expr q) { return arith::prove_equal(p, q, facts); });
  }
};

Value* view_without_effect(const Site& s) {
  bool view = s.op.kind == OpKind::kOperator && s.op.def->role == Role::kView;
  return view && s.same_shape(*s.in(), *s.op.result()) ? s.in() : nullptr;
}

/// A view of a view is a reshape of what lies below.
Value* view_of_view(const Site& s) {
  if (s.op.kind != OpKind::kOperator || s.op.def->role != Role::kView) return nullptr;
  Op* below = s.in()->op;
  if (below == nullptr || below->kind != OpKind::kOperator || below->def->role != Role::kView) return nullptr;
  Value* shape = s.builder.shape(s.op.result()->shape());
  auto made = s.builder.call("reshape", {below->operand(0), shape}, {}, s.op.result()->name);
  return made ? *made : nullptr;
}

/// A view of a constant is the constant under another shape: no bytes move.
Value* view_of_constant(const Site& s) {
  if (s.op.kind != OpKind::kOperator || s.op.def->role != Role::kView) return nullptr;
  if (s.in()->op == nullptr || s.in()->op->kind != OpKind::kConstant) return nullptr;
  std::vector<int64_t> shape;
  for (Expr dim : s.op.result()->shape()) {
    if (dim.constant() == nullptr) return nullptr;
    shape.push_back(*dim.constant());
  }
  return s.builder.constant(s.in()->op->constant->reshaped(std::move(shape)), s.op.result()->name);
}

Value* cast_to_same_dtype(const Site& s) {
  return s.op.is("astype") && s.in()->dtype() == s.op.result()->dtype() ? s.in() : nullptr;
}

std::vector<int64_t> permutation(const Op& op) {
  std::vector<int64_t> axes = op.attrs.ints("axes");
  int64_t rank = static_cast<int64_t>(op.operand(0)->shape().size());
  if (axes.empty())
    for (int64_t i = rank; i-- > 0;) axes.push_back(i);
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  return axes;
}

Value* transpose_without_effect(const Site& s) {
  if (!s.op.is("permute_dims")) return nullptr;
  std::vector<int64_t> axes = permutation(s.op);
  return std::is_sorted(axes.begin(), axes.end()) ? s.in() : nullptr;
}

Value* transpose_of_transpose(const Site& s) {
  Op* below = s.op.is("permute_dims") ? s.producer(0, "permute_dims") : nullptr;
  if (below == nullptr) return nullptr;
  std::vector<int64_t> outer = permutation(s.op), inner = permutation(*below), both;
  for (int64_t axis : outer) both.push_back(inner[static_cast<size_t>(axis)]);
  auto made = s.builder.call("permute_dims", {below->operand(0)}, {{"axes", both}}, s.op.result()->name);
  return made ? *made : nullptr;
}

Value* concat_of_one(const Site& s) {
  return s.op.is("concat") && s.op.operands().size() == 1 ? s.in() : nullptr;
}

Value* field_of_tuple(const Site& s) {
  if (s.op.kind != OpKind::kTupleGet || s.in()->op == nullptr || s.in()->op->kind != OpKind::kTuple) return nullptr;
  return s.in()->op->operand(static_cast<size_t>(s.op.attrs.integer("index")));
}

/// A cast to what is known anyway guards nothing.
Value* match_cast_that_holds(const Site& s) {
  if (s.op.kind != OpKind::kMatchCast || !s.op.binds.empty()) return nullptr;
  return subsumes(s.op.result()->info, s.in()->info, s.facts) ? s.in() : nullptr;
}

Value* identity(const Site& s) {
  return s.op.is("identity") ? s.in() : nullptr;
}

using Rule = Value* (*)(const Site&);
constexpr Rule kRules[] = {
    identity,      view_without_effect,      view_of_constant,       view_of_view,   cast_to_same_dtype,
    concat_of_one, transpose_without_effect, transpose_of_transpose, field_of_tuple, match_cast_that_holds,
};

class Canonicalizer {
 public:
  Canonicalizer(Module& module, Function& function, PassContext& context)
      : module_(module), function_(function), context_(context) {}

  Changed run() {
    for (Op* op : ops_of(function_.body(), true)) waiting_.push_back(op);
    Changed changed = Changed::kNo;
    while (!waiting_.empty()) {
      Op* op = waiting_.front();
      waiting_.pop_front();
      if (op->block != nullptr && one(*op)) changed = Changed::kYes;
    }
    return changed;
  }

 private:
  bool one(Op& op) {
    if (op.results.size() != 1 || op.result()->unused()) return false;
    if (op.kind == OpKind::kOperator && op.result()->info->as<TensorInfo>() == nullptr) return false;
    GraphBuilder builder(module_, context_.ops, &op, context_.diag);
    Site site{op, builder, function_.facts};
    for (Rule rule : kRules) {
      Value* better = rule(site);
      if (better == nullptr) continue;
      for (const Use& use : op.result()->uses()) waiting_.push_back(use.user);
      if (better->op != nullptr) waiting_.push_back(better->op);
      if (better->name.empty()) better->name = op.result()->name;
      op.result()->replace_all_uses_with(better);
      return true;
    }
    return false;
  }

  Module& module_;
  Function& function_;
  PassContext& context_;
  std::deque<Op*> waiting_;
};

}  // namespace

Result<Changed> canonicalize(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= Canonicalizer(module, *function, context).run();
  return changed == Changed::kYes ? dead_code(module, context) : changed;
}

}  // namespace relaxc
