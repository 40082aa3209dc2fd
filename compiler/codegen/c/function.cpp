// function.cpp: prints a prim func's head: parameters, calling convention.
#include "compiler/codegen/c/function.h"

#include <algorithm>

#include "compiler/codegen/c/contracts.h"
#include "compiler/codegen/c/effects.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/types.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {

using tir::BufferRef;
using tir::Stmt;

FunctionPrinter::FunctionPrinter(const tir::PrimFunc& function, const Conventions& conventions,
                                 const FunctionStyle& style, std::set<std::string>& helpers)
    : function_(function),
      style_(style),
      conventions_(conventions),
      own_(function.c_function ? Convention{true, false, function.name} : conventions.at(function.name)),
      uses_(function),
      names_({style.prefix, style.macro_prefix}),
      values_(function, style, names_, helpers, out_),
      calls_(function, conventions, style.hooks, handed_, names_, values_, out_),
      lanes_(*this, style.vectors, names_, values_, out_) {
  if (function.c_function) name_c_function(*function.c_function);
  for (const std::string& name : uses_.foreign_functions()) names_.reserve(name);
}

/// Names the data, context and error of a function that C calls; in others, hidden parameters have these names.
void FunctionPrinter::name_c_function(const tir::CFunction& function) {
  for (const tir::ObjectData& data : function.data) names_.call(data.buffer, style_.data.at(data.name));
  if (function.context != nullptr) names_.call(function.context, "context");
  if (function.error != nullptr) names_.call(function.error, "error");
  handed_.context = function.context != nullptr ? "context" : "NULL";
  auto is_error = [&](const tir::Param& param) { return param.buffer != nullptr && param.buffer == function.error; };
  handed_.error = std::any_of(function_.params.begin(), function_.params.end(), is_error) ? "error" : "NULL";
}

std::string FunctionPrinter::prototype() {
  return head() + ";\n\n";
}

std::string FunctionPrinter::run() {
  const std::string first = head();
  if (style_.contracts)
    for (const std::string& line : contract()) out_.line("{}", line);
  out_.open(first + " {");
  const size_t begin = out_.place();
  if (function_.c_function && function_.c_function->ties_runtime)
    out_.line("(void)*(const volatile uint32_t*)&rlx_abi_1;");
  const bool copies = function_.memory.copies;
  if (copies)
    out_.open(
        fmt::format("if ({} != {}) {{", names_.of(function_.params[0].buffer), names_.of(function_.params[1].buffer)));
  suite(function_.body);
  if (copies) out_.close();
  for (const tir::Param& param : function_.params)
    param.buffer != nullptr ? admit_unused(param.buffer) : admit_unused(param.var);
  for (arith::Var symbol : function_.symbols) admit_unused(symbol);
  if (values_.may_check() && !values_.has_checked()) out_.line("(void)error;");  // no check is left
  if (own_.fails) out_.line("return 0;");
  if (values_.has_checked()) out_.line_at(begin, "int bad = 0;");
  out_.close();
  return out_.text() + "\n";
}

std::vector<std::string> FunctionPrinter::contract() {
  const bool apart = style_.apart.count(function_.name) != 0;
  if (function_.c_function) return call_contract(function_, conventions_, style_.hooks, names_, apart);
  return function_contract(function_, own_, names_, apart);
}

void FunctionPrinter::admit_unused(arith::Var var) {
  if (!uses_.is_used(var)) out_.line("(void){};", names_.of(var));
}

void FunctionPrinter::admit_unused(BufferRef buffer) {
  if (!uses_.is_used(buffer)) out_.line("(void){};", names_.of(buffer));
}

/// The declaration without the `;` or the body.
std::string FunctionPrinter::head() {
  const std::string params = parameters();
  if (function_.c_function)
    return fmt::format("{}int32_t {}({})", function_.c_function->is_global ? "" : "static ", own_.name, params);
  return fmt::format("{} RLX_NOINLINE {} {}({})", style_.linkage, own_.fails ? "int32_t" : "void", own_.name,
                     params.empty() ? "void" : params);
}

std::string FunctionPrinter::parameters() {
  std::string params;
  auto add = [&](const std::string& param) { params += (params.empty() ? "" : ", ") + param; };
  if (own_.context) add("rlx_context* context");
  const std::set<BufferRef> written = uses_.written(), changed = uses_.changed();
  for (const tir::Param& param : function_.params)
    if (param.buffer == nullptr)
      add(value_type(param.var.dtype()) + " " + names_.of(param.var));
    else
      // A buffer that is only read may be passed twice (a concat of x and x), so `restrict` is for buffers that are
      // written: these differ from all others. Where the result overlaps an operand, the others say that they do not.
      add(parameter(param.buffer, written.count(param.buffer) == 0,
                    function_.is_apart(param.buffer) &&
                        (changed.count(param.buffer) != 0 || !function_.memory.overlapping.empty())));
  for (arith::Var symbol : function_.symbols) add("int64_t " + names_.of(symbol));
  if (own_.fails && !function_.c_function) add("rlx_error* error");
  return params;
}

/// Declares a parameter. `alone`: no other pointer accesses its memory.
std::string FunctionPrinter::parameter(BufferRef buffer, bool constant, bool alone) {
  if (buffer->record != nullptr)
    return fmt::format("{}{}* {}", buffer->record->name, constant ? " const" : "", names_.of(buffer));
  return (constant ? "const " : "") + memory_type(buffer->dtype) + "* " + (alone ? "restrict " : "") +
         names_.of(buffer);
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
  if (style.contracts) add_effects(function, callees, style.hooks, own);
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
