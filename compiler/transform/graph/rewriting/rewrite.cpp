// rewrite.cpp: a work list of ops, and queries that rules use.
//
// An op is visited once, and again if an operand of it was replaced or it became the only reader of one; since no rule
// makes the graph larger for ever, the list ends. Rules never see an op that was removed.
#include "compiler/transform/graph/rewriting/rewrite.h"

#include <algorithm>
#include <deque>

#include "compiler/relax/known.h"

namespace relaxc {

using namespace relax;

Op* Site::producer(size_t index, OpName name) const {
  Value* value = in(index);
  return value != nullptr && value->op != nullptr && value->op->is(name) ? value->op : nullptr;
}

bool Site::same_shape(const Value& a, const Value& b) const {
  const auto &x = a.shape(), &y = b.shape();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [&](arith::Expr p, arith::Expr q) { return arith::prove_equal(p, q, facts); });
}

bool Site::like_result(const Value& value) const {
  return value.info->as<TensorInfo>() != nullptr && value.dtype() == out()->dtype() && same_shape(value, *out());
}

Value* Site::make(OpName name, std::vector<Value*> operands, Attrs attrs) const {
  Result<Value*> made = builder.call(name, std::move(operands), std::move(attrs), out()->name);
  RELAXC_CHECK(static_cast<bool>(made), "a rule made an ill-typed '" + std::string(name.text()) + "'");
  return *made;
}

namespace {

class Rewriting {
 public:
  Rewriting(Module& module, Function& function, PassContext& context, std::span<const Rule> rules)
      : module_(module), function_(function), context_(context), rules_(rules) {}

  Changed run() {
    for (Op* op : ops_of(function_.body(), true)) {
      waiting_.push_back(op);
      checks_ |= op->kind == OpKind::kAssert || op->kind == OpKind::kMatchCast;
    }
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
    arith::Facts room;
    Site site{op, builder, checks_ ? known_facts(*op.block->parent, &op, room) : function_.facts};
    for (Rule rule : rules_) {
      Value* better = rule(site);
      if (better == nullptr) continue;
      for (const Use& use : op.result()->uses()) waiting_.push_back(use.user);
      if (better->op != nullptr) {
        waiting_.push_back(better->op);
        for (const Value* operand : better->op->operands())
          if (operand != nullptr && operand->op != nullptr) waiting_.push_back(operand->op);
      }
      if (better->name.empty()) better->name = op.result()->name;
      op.result()->replace_all_uses_with(better);
      let_go(op);
      return true;
    }
    return false;
  }

  /// Drops the operands of ops that are no longer read, so that rules which ask whether a value is read once count only
  /// live readers, and queues the last reader of such an operand again.
  void let_go(Op& op) {
    std::vector<Op*> dead{&op};
    while (!dead.empty()) {
      Op* here = dead.back();
      dead.pop_back();
      bool pure = here->kind == OpKind::kOperator && here->def->pure && here->binds.empty();
      if (!pure || !std::all_of(here->results.begin(), here->results.end(), [](Value* v) { return v->unused(); }))
        continue;
      const std::vector<Value*> operands = here->operands();
      here->drop_operands();
      for (Value* operand : operands) {
        if (operand == nullptr || operand->op == nullptr) continue;
        dead.push_back(operand->op);
        if (operand->has_one_use()) waiting_.push_back(operand->uses()[0].user);
      }
    }
  }

  Module& module_;
  Function& function_;
  PassContext& context_;
  std::span<const Rule> rules_;
  std::deque<Op*> waiting_;
  bool checks_ = false;  ///< some op establishes facts
};

}  // namespace

Changed rewrite_ops(Module& module, Function& function, PassContext& context, std::span<const Rule> rules) {
  return Rewriting(module, function, context, rules).run();
}

Op* producer_of(const Value* value, OpName name) {
  return value != nullptr && value->op != nullptr && value->op->is(name) ? value->op : nullptr;
}

ConstantRef constant_of(const Value* value) {
  bool constant = value != nullptr && value->op != nullptr && value->op->kind == OpKind::kConstant;
  return constant ? value->op->constant : nullptr;
}

std::optional<double> uniform_value(const Value* value) {
  constexpr int64_t kMostBytes = 64 * 1024;
  ConstantRef data = constant_of(value);
  if (data == nullptr || data->elements() == 0 || data->byte_size() > kMostBytes) return std::nullopt;
  bool number = data->dtype().is_float() || data->dtype().is_integer();
  if (!number || data->dtype().bits < 8) return std::nullopt;
  std::optional<double> found;
  data->with_bytes([&](std::span<const std::byte> bytes) {
    size_t size = static_cast<size_t>(data->dtype().bytes());
    for (size_t at = size; at < bytes.size(); at += size)
      if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at)))
        return;
    found = decode_scalar(data->dtype(), bytes.data());
  });
  return found;
}

std::optional<std::vector<int64_t>> numbers_of(const std::vector<arith::Expr>& dims) {
  std::vector<int64_t> numbers;
  for (arith::Expr dim : dims) {
    if (dim.constant() == nullptr) return std::nullopt;
    numbers.push_back(*dim.constant());
  }
  return numbers;
}

void mark_rounding(Function& function) {
  if (!function.rounding) function.rounding.emplace();  // what a pass has recorded of narrow products says more
}

}  // namespace relaxc
