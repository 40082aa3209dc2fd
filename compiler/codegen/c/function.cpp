// function.cpp: prim funcs as C functions: parameters, conventions.
#include "compiler/codegen/c/function.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/types.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

namespace {

Expr place_of(BufferRef buffer, const std::vector<Expr>& indices) {
  return tir::element_offset(indices[0].context(), *buffer, indices);
}

/// A block's regions and the extents of its axes are not printed, and of subscripts just the place that they name:
/// those of a tensor without elements may leave nothing.
std::vector<Expr> printed_expressions(Stmt s) {
  std::vector<Expr> out;
  if (const auto* store = s.as<tir::Store>(); store != nullptr && !store->indices.empty())
    return {place_of(store->buffer, store->indices), store->value};
  const auto* block = s.as<tir::Block>();
  if (block == nullptr) return tir::expressions(s);
  for (const tir::IterVar& iter : block->iters) out.insert(out.end(), {iter.min, iter.binding});
  if (block->predicate) out.push_back(block->predicate);
  return out;
}

/// Calls `f` for every node of `e` that is printed.
void for_each_printed(Expr e, const std::function<void(Expr)>& f) {
  std::unordered_set<Expr> seen;
  std::vector<Expr> pending{e};
  while (!pending.empty()) {
    const Expr node = pending.back();
    pending.pop_back();
    if (!node || !seen.insert(node).second) continue;
    f(node);
    const auto* load = node.as<arith::Load>();
    if (load != nullptr && !load->indices.empty())
      pending.push_back(place_of(load->buffer, load->indices));
    else
      for (Expr operand : arith::operands(node)) pending.push_back(operand);
  }
}

}  // namespace

FunctionPrinter::FunctionPrinter(const tir::PrimFunc& function, const Conventions& conventions,
                                 const FunctionStyle& style, std::set<std::string>& helpers)
    : function_(function),
      conventions_(conventions),
      style_(style),
      own_(function.c_function ? Convention{true, false, function.name} : conventions.at(function.name)),
      names_({style.prefix, style.macro_prefix}),
      expressions_(
          names_, helpers, function.checks.overflow_code != 0 ? &ranges_.emplace(function) : nullptr,
          style.narrow_indices && tir::may_have_narrow_indices(function) ? &widths_.emplace(function) : nullptr) {
  if (style.dots) expressions_.use_dots();
  if (function.c_function) name_c_function(*function.c_function);
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr && param.var.dtype().is_index()) expressions_.declare_wide(param.var);
  for (arith::Var symbol : function.symbols) expressions_.declare_wide(symbol);
  std::set<uint32_t> bound;
  std::set<BufferRef> named;
  auto name = [&](BufferRef buffer) {
    if (!named.insert(buffer).second) renamed_buffers_.insert(buffer);
  };
  tir::for_each_stmt(function_.body, [&](Stmt s) {
    const auto* invoke = s.as<tir::Invoke>();
    if (invoke != nullptr && invoke->external) names_.reserve(invoke->callee);
    if (const auto* view = s.as<tir::View>()) used_buffers_.insert(view->base), name(view->buffer);
    if (const auto* alloc = s.as<tir::Alloc>()) name(alloc->buffer);
    if (const auto* store = s.as<tir::Store>()) used_buffers_.insert(store->buffer);
    if (const auto* let = s.as<tir::Let>(); let != nullptr && !bound.insert(let->var->id).second)
      rebound_vars_.insert(let->var->id);
    for (Expr e : printed_expressions(s))
      for_each_printed(e, [&](Expr node) {
        if (const auto* external = node.as<arith::Extern>()) names_.reserve(external->name);
        if (const auto* load = node.as<arith::Load>()) used_buffers_.insert(load->buffer);
        if (node.as<arith::VarNode>() != nullptr) used_vars_.insert(node->id);
      });
    if (invoke != nullptr)
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<BufferRef>(&argument)) used_buffers_.insert(*buffer);
  });
}

/// Other functions have hidden parameters of these names.
void FunctionPrinter::name_c_function(const tir::CFunction& function) {
  for (const tir::ObjectData& data : function.data) names_.call(data.buffer, style_.data.at(data.name));
  if (function.context != nullptr) names_.call(function.context, "context");
  if (function.error != nullptr) names_.call(function.error, "error");
  context_ = function.context != nullptr ? "context" : "NULL";
  auto is_error = [&](const tir::Param& param) { return param.buffer != nullptr && param.buffer == function.error; };
  error_ = std::any_of(function_.params.begin(), function_.params.end(), is_error) ? "error" : "NULL";
}

std::string FunctionPrinter::prototype() {
  signature();
  return out_.substr(0, out_.rfind(" {")) + ";\n\n";
}

std::string FunctionPrinter::run() {
  signature();
  ++indent_;
  size_t begin = out_.size();
  if (function_.c_function && function_.c_function->ties_runtime) line("(void)*(const volatile uint32_t*)&rlx_abi_1;");
  bool copies = function_.memory.copies;
  if (copies)
    open(fmt::format("if ({} != {}) {{", names_.of(function_.params[0].buffer), names_.of(function_.params[1].buffer)));
  suite(function_.body);
  if (copies) close();
  for (const tir::Param& param : function_.params)
    param.buffer != nullptr ? admit_unused(param.buffer) : admit_unused(param.var);
  for (arith::Var symbol : function_.symbols) admit_unused(symbol);
  if (ranges_ && !checks_) line("(void)error;");  // nothing is left to check
  if (own_.fails) line("return 0;");
  if (checks_) out_.insert(begin, "  int bad = 0;\n");
  --indent_;
  line("}}");
  return out_ + "\n";
}

void FunctionPrinter::admit_unused(arith::Var var) {
  if (used_vars_.count(var->id) == 0 || rebound_vars_.count(var->id) != 0) line("(void){};", names_.of(var));
}

void FunctionPrinter::admit_unused(BufferRef buffer) {
  if (used_buffers_.count(buffer) == 0 || renamed_buffers_.count(buffer) != 0) line("(void){};", names_.of(buffer));
}

void FunctionPrinter::signature() {
  std::string params;
  auto add = [&](const std::string& param) { params += (params.empty() ? "" : ", ") + param; };
  if (own_.context) add("rlx_context* context");
  std::set<BufferRef> written = written_buffers(), changed = changed_buffers();
  for (const tir::Param& param : function_.params) {
    if (param.buffer == nullptr) {
      add(value_type(param.var.dtype()) + " " + names_.of(param.var));
      continue;
    }
    bool constant = written.count(param.buffer) == 0;
    if (param.buffer->record != nullptr) {
      add(fmt::format("{}{}* {}", param.buffer->record->name, constant ? " const" : "", names_.of(param.buffer)));
      continue;
    }
    // What is only read may be given twice (a concat of x and x): that it differs from what is written is all there
    // is to know.
    bool alone = function_.noalias && changed.count(param.buffer) != 0;
    add((constant ? "const " : "") + memory_type(param.buffer->dtype) + "* " + (alone ? "restrict " : "") +
        names_.of(param.buffer));
  }
  for (arith::Var symbol : function_.symbols) add("int64_t " + names_.of(symbol));
  if (own_.fails && !function_.c_function) add("rlx_error* error");
  if (function_.c_function) {
    out_ += fmt::format("{}int32_t {}({}) {{\n", function_.c_function->is_global ? "" : "static ", own_.name, params);
    return;
  }
  out_ += fmt::format("{} RLX_NOINLINE {} {}({}) {{\n", style_.linkage, own_.fails ? "int32_t" : "void", own_.name,
                      params.empty() ? "void" : params);
}

/// Buffers that the function stores to, passes on or looks into through a view: their parameters are not const.
std::set<BufferRef> FunctionPrinter::written_buffers() const {
  std::set<BufferRef> written;
  if (function_.c_function) written = {function_.c_function->context, function_.c_function->error};
  tir::for_each_stmt(function_.body, [&](Stmt s) {
    if (const auto* store = s.as<tir::Store>()) written.insert(store->buffer);
    if (const auto* view = s.as<tir::View>()) written.insert(view->base);  // null, of an address, is not a parameter
    if (const auto* invoke = s.as<tir::Invoke>())
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<BufferRef>(&argument)) written.insert(*buffer);
  });
  return written;
}

/// Buffers that the function stores to, itself or through views, or passes on.
std::set<BufferRef> FunctionPrinter::changed_buffers() const {
  std::set<BufferRef> changed;
  std::map<BufferRef, BufferRef> bases;
  tir::for_each_stmt(function_.body, [&](Stmt s) {
    if (const auto* view = s.as<tir::View>(); view != nullptr && view->base != nullptr)
      bases[view->buffer] = view->base;
  });
  auto change = [&](BufferRef buffer) {
    for (; changed.insert(buffer).second && bases.count(buffer) != 0; buffer = bases.at(buffer)) {
    }
  };
  tir::for_each_stmt(function_.body, [&](Stmt s) {
    if (const auto* store = s.as<tir::Store>()) change(store->buffer);
    if (const auto* invoke = s.as<tir::Invoke>())
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<BufferRef>(&argument)) change(*buffer);
  });
  return changed;
}

Convention convention_of(const tir::PrimFunc& function, const Conventions& callees, const FunctionStyle& style) {
  Convention own;
  own.name = function_name(style, function.name);
  own.fails = function.checks.overflow_code != 0;
  tir::for_each_stmt(function.body, [&](Stmt s) {
    if (s.as<tir::Guard>() != nullptr) own.fails = true;
    const auto* invoke = s.as<tir::Invoke>();
    if (invoke == nullptr || invoke->plain) return;
    bool fails = invoke->external || callees.at(invoke->callee).fails;
    bool context = invoke->external || callees.at(invoke->callee).context;
    bool hooked = style.hooks.at(invoke->trace_node);
    own.fails |= fails || (hooked && style.hooks.poll);
    own.context |= context || hooked;
  });
  return own;
}

std::string function_name(const FunctionStyle& style, const std::string& prim_func) {
  return style.prefix + interface::identifier(prim_func);
}

std::string prototype_text(const tir::PrimFunc& function, const Conventions& conventions, const FunctionStyle& style) {
  std::set<std::string> helpers;
  return FunctionPrinter(function, conventions, style, helpers).prototype();
}

std::string function_text(const tir::PrimFunc& function, const Conventions& conventions, const FunctionStyle& style,
                          std::set<std::string>& helpers) {
  return FunctionPrinter(function, conventions, style, helpers).run();
}

}  // namespace relaxc::codegen_c
