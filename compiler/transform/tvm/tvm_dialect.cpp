// tvm_dialect.cpp: makes modules that --dialect=tvm prints.
//
// TVM and relaxc share the names of many operators, and for some of them everything that a call says. Those calls stay;
// an operator that differs in an attribute, an operand or its meaning becomes a prim func made of its definition, which
// means the same to both. A view is a reshape. A guard is an assertion, since TVM's text has no status.
#include "compiler/transform/tvm/tvm_dialect.h"

#include <algorithm>
#include <set>

#include "compiler/relax/print.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/tvm/branches.h"
#include "compiler/transform/tvm/data_sizes.h"
#include "compiler/transform/tvm/definition.h"
#include "compiler/transform/tvm/flat_views.h"
#include "compiler/transform/tvm/loops.h"

namespace relaxc {
namespace {

using namespace relax;

/// Operators without attributes that mean the same in TVM for floats.
constexpr std::string_view kShared[] = {
    "abs",     "add",       "ceil",     "cos",           "cosh",    "divide",     "equal", "exp",
    "floor",   "floor_mod", "greater",  "greater_equal", "less",    "less_equal", "log",   "maximum",
    "minimum", "mod",       "multiply", "negative",      "nn.relu", "not_equal",  "rsqrt", "sigmoid",
    "sin",     "sinh",      "sqrt",     "subtract",      "tanh",
};

bool is_shared(const Op& op) {
  const bool named = std::find(std::begin(kShared), std::end(kShared), op.def->name.text()) != std::end(kShared);
  return named && std::all_of(op.operands().begin(), op.operands().end(), [](const Value* operand) {
           const auto* tensor = operand == nullptr ? nullptr : operand->info->as<TensorInfo>();
           return tensor != nullptr && tensor->dtype && tensor->dtype->is_float();
         });
}

void make_prim_func(GraphBuilder& builder, Op& op) {
  std::vector<Value*> operands;
  op.callee = add_definition(builder, op, operands)->name;
  op.drop_operands();
  for (Value* operand : operands) op.add_operand(operand);
  op.kind = OpKind::kCallTir;
  op.def = nullptr;
  op.attrs = {};
}

/// Replaces `op`, which makes a tensor of a scalar, by a call of a prim func that stores it.
void make_scalar_store(GraphBuilder& builder, Op& op) {
  Module& module = builder.module();
  tir::Builder build(module.context());
  const DType from = op.operand(0)->info->as<PrimInfo>()->dtype;
  Var scalar = module.context().var("x", from);
  tir::BufferRef made = build.buffer("y", op.result()->dtype(), {});
  tir::PrimFunc function;
  function.name = module.unique_name("scalar");
  function.location = op.location;
  function.params = {{nullptr, scalar}, {made, {}}};
  function.body = build.store(made, {}, arith::cast(made->dtype, scalar));
  op.callee = module.add_prim_func(std::move(function))->name;
  op.kind = OpKind::kCallTir;
  op.def = nullptr;
  op.attrs = {};
}

Status make_reshape(GraphBuilder& builder, Op& op) {
  const auto* tensor = op.result()->info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape) return Done{};
  RELAXC_TRY(Value * reshaped, builder.call("reshape", {op.operand(0), builder.shape(*tensor->shape)}));
  op.result()->replace_all_uses_with(reshaped);
  return Done{};
}

/// Replaces statements and expressions that TVM's text cannot spell.
void rewrite_statements(arith::Context& context, tir::PrimFunc& function) {
  flatten_views(context, function);
  tir::Builder build(context);
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](tir::Stmt s) {
    const auto* guard = s.as<tir::Guard>();
    if (guard == nullptr) return s;
    tir::Guard plain;
    plain.condition = guard->condition;
    plain.code = tir::kAssertion;
    plain.message = guard->message.empty() ? "status " + std::to_string(guard->code) : guard->message;
    return build.guard(std::move(plain));
  };
  rewriter.on_expr = [&](arith::Expr e) {
    return arith::rewrite(e, [&](arith::Expr node) {
      const auto* call = node.as<arith::Call>();
      const bool is_expm1 = call != nullptr && call->intrinsic == arith::Intrinsic::k_expm1;
      if (!is_expm1 && (call == nullptr || call->intrinsic != arith::Intrinsic::k_exp_nonpositive)) return node;
      arith::Expr power = arith::call(arith::Intrinsic::k_exp, {arith::operands(node)[0]});
      return is_expm1 ? power - context.number(node.dtype(), 1) : power;
    });
  };
  function.body = tir::rewrite(context, function.body, rewriter);
  bool has_blocks = false;
  tir::for_each_stmt(function.body, [&](tir::Stmt s) { has_blocks |= s.as<tir::Block>() != nullptr; });
  if (has_blocks) return;
  tir::Block root;  // TVM's passes look for one
  root.name = "root";
  root.body = function.body;
  function.body = build.block(std::move(root));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

constexpr size_t kLongestText = size_t{1} << 26;

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

void replace_word(std::string& text, const std::string& word, const std::string& by) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    size_t end = at + word.size();
    bool whole = (at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]));
    if (whole) text.replace(at, word.size(), by);
    at += whole ? by.size() : word.size();
    if (text.size() > kLongestText) return;
  }
}

/// Returns the index of the comma or bracket that ends the argument at `at`; brackets inside of it are skipped.
size_t end_of_item(const std::string& text, size_t at) {
  for (int depth = 0; at < text.size(); ++at) {
    char c = text[at];
    if (depth == 0 && (c == ',' || c == ')' || c == '}')) break;
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
  }
  return at;
}

/// Replaces `R.Prim(value=n)` by `R.Prim("int64")`: TVM's type of a scalar has no value.
void leave_out_values(std::string& text) {
  constexpr std::string_view kPrim = "R.Prim(", kValue = "value=";
  for (size_t at = text.find(kPrim); at != std::string::npos; at = text.find(kPrim, at)) {
    at += kPrim.size();
    size_t end = end_of_item(text, at);
    if (text.compare(at, kValue.size(), kValue) == 0) {
      text.replace(at, end - at, "\"int64\"");
    } else if (end < text.size() && text[end] == ',') {
      text.erase(end, end_of_item(text, end + 1) - end);
    }
  }
}

/// Replaces `T.Let(body, where={t: value})` by the body with the values in it: TVM requires declarations with types.
void spell_out_parts(std::string& text) {
  constexpr std::string_view kLet = "T.Let(", kWhere = ", where={";
  for (size_t at = text.rfind(kLet); at != std::string::npos && text.size() < kLongestText; at = text.rfind(kLet)) {
    size_t end = end_of_item(text, at + kLet.size());
    std::string body = text.substr(at + kLet.size(), end - at - kLet.size());
    if (text.compare(end, kWhere.size(), kWhere) != 0) return;
    std::vector<std::pair<std::string, std::string>> parts;
    size_t next = end + kWhere.size();
    while (next < text.size() && text[next] != '}') {
      size_t colon = text.find(": ", next);
      end = end_of_item(text, colon + 2);
      parts.emplace_back(text.substr(next, colon - next), "(" + text.substr(colon + 2, end - colon - 2) + ")");
      next = text[end] == ',' ? end + 2 : end;
    }
    for (size_t i = parts.size(); i-- > 0;) replace_word(body, parts[i].first, parts[i].second);
    text.replace(at, next + 2 - at, "(" + body + ")");  // "})" ends it
  }
}

}  // namespace

Status to_tvm_dialect(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag) {
  RELAXC_DO(loops_to_functions(module, ops, diag));
  RELAXC_DO(pack_branches(module, ops, diag));
  RELAXC_DO(read_sizes_of_data(module, ops, diag));
  for (Function* function : module.functions()) {
    std::set<const Op*> replaced;  // looked up only
    for (Op* op : ops_of(function->body(), true)) {
      if (op->kind != OpKind::kOperator || is_shared(*op)) continue;
      if (op->is("prim_to_tensor")) {
        GraphBuilder builder(module, ops, op, diag);
        make_scalar_store(builder, *op);
        continue;
      }
      if (op->def->role == Role::kHost || op->def->role == Role::kNode) continue;
      GraphBuilder builder(module, ops, op, diag);
      builder.location = op->location;
      if (op->def->role == Role::kKernel) {
        make_prim_func(builder, *op);
      } else if (!op->is("reshape")) {
        RELAXC_DO(make_reshape(builder, *op));
        if (op->result()->uses().empty()) replaced.insert(op);
      }
    }
    erase_ops(function->body(), [&](Op* op) { return replaced.count(op) != 0; });
  }
  for (tir::PrimFunc* function : module.prim_funcs()) rewrite_statements(module.context(), *function);
  return Done{};
}

std::string tvm_text(const relax::Module& module) {
  std::string text = relax::to_string(module);
  // An index has no width here; TVM's are int64.
  replace_all(text, "T.Cast(\"index\", ", "T.Cast(\"int64\", ");
  replace_all(text, ": T.index = ", ": T.int64 = ");
  leave_out_values(text);
  spell_out_parts(text);
  return "from tvm.script import ir as I, tirx as T, relax as R\n\n" + text;
}

}  // namespace relaxc
