// invoke.cpp: calls, in C: of prim funcs, of what the linking program or the runtime defines, of the context's hooks.
#include "compiler/codegen/c/function_printer.h"
#include "compiler/interface/dlpack.h"

namespace relaxc::codegen_c {

using arith::Expr;
using tir::BufferRef;

void FunctionPrinter::print(const tir::Invoke& node) {
  open("{");
  std::string args;
  std::vector<std::string> results;  // of unknown size, taken after the call
  auto add = [&](const std::string& arg) { args += (args.empty() ? "" : ", ") + arg; };
  Convention callee = node.plain      ? Convention{node.status, false, node.callee}
                      : node.external ? Convention{true, true, node.callee}
                                      : conventions_.at(node.callee);
  if (callee.context) add(context_);
  for (const tir::Argument& argument : node.args) {
    if (const auto* e = std::get_if<Expr>(&argument))
      add(computed(*e));
    else if (node.external && !node.runtime && !node.plain && std::get<BufferRef>(argument)->dtype == DType::handle())
      add(handle_argument(std::get<BufferRef>(argument), node.error_node, results));
    else if (node.external && !node.runtime && !node.plain)
      add("&" + tensor_record(std::get<BufferRef>(argument)));
    else
      add(names_.of(std::get<BufferRef>(argument)));
  }
  const tir::Guard named = tir::overflow_of(function_, node);
  check_overflow(node.error_node >= 0 ? &named : nullptr);
  if (callee.fails && (!node.external || node.runtime)) add(error_);
  std::string call = (node.external ? node.callee : callee.name) + "(" + args + ")";
  bool traced = style_.hooks.at(node.trace_node) && style_.hooks.trace;
  if (style_.hooks.at(node.trace_node) && style_.hooks.poll) poll(node.trace_node);
  if (traced) trace(node.trace_node, true);
  if (callee.fails)
    line("const int32_t status = {};", call);
  else
    line("{}{};", node.plain ? "(void)" : "", call);
  if (traced) trace(node.trace_node, false);  // whatever the status
  if (callee.fails) {
    if (node.external && !node.runtime && !node.status)
      line("if (status != 0) return {}(error, RLX_EXTERNAL_FAILED, -1, -1, -1, {}, 0, status);",
           expressions_.helper("fail"), node.error_node);
    else
      line("if (status != 0) return {};", failed("status", node.error_node));
  }
  for (const std::string& take : results) line("{}", take);
  close();
}

/// `status` of a call that failed. The record gets the call's node, unless the failure inside of it has one.
std::string FunctionPrinter::failed(const std::string& status, int32_t node) {
  return node < 0 ? status : fmt::format("{}(error, {}, {})", expressions_.helper("name_failure"), status, node);
}

void FunctionPrinter::trace(int32_t node, bool begin) {
  line("if (context != NULL && context->trace != NULL) context->trace(context->trace_user, {}, {});", node,
       begin ? 1 : 0);
}

void FunctionPrinter::poll(int32_t node) {
  open("if (context != NULL && context->poll != NULL) {");
  line("const int32_t answer = context->poll(context->poll_user, {});", node);
  line("if (answer != 0) return {}(error, RLX_POLLED, -1, -1, -1, {}, 0, answer);", expressions_.helper("fail"), node);
  close();
}

/// A handle that is passed, the place for one, or the place for a tensor (tir::Invoke says which is which).
std::string FunctionPrinter::handle_argument(BufferRef buffer, int32_t node, std::vector<std::string>& results) {
  std::string words = names_.of(buffer), record = names_.fresh(words + "_result");
  if (buffer->shape.empty()) return "(rlx_object*)(uintptr_t)*" + words;
  if (buffer->shape[0].is_constant(1)) {
    line("rlx_object* {} = NULL;", record);
    results.push_back(fmt::format("*{} = (uint64_t)(uintptr_t){};", words, record));
    return "&" + record;
  }
  line("rlx_tensor {};", record);
  line("rlx_result_begin((int64_t*){}, &{});", words, record);
  std::string code = names_.fresh("code");
  results.push_back(
      fmt::format("const int32_t {0} = rlx_result_end(&{1}, (int64_t*){2}, error);", code, record, words));
  results.push_back(fmt::format("if ({} != 0) return {};", code, failed(code, node)));
  return "&" + record;
}

/// Declares an rlx_tensor that describes `buffer`, and gives its name.
std::string FunctionPrinter::tensor_record(BufferRef buffer) {
  std::string shape = names_.fresh(names_.of(buffer) + "_shape"), record = names_.fresh(names_.of(buffer) + "_tensor");
  line("int64_t {}[{}];", shape, std::max<size_t>(buffer->shape.size(), 1));
  for (size_t i = 0; i < buffer->shape.size(); ++i) line("{}[{}] = {};", shape, i, hoisted(buffer->shape[i]));
  interface::DLPackType type = interface::dlpack_type(buffer->dtype);
  line("rlx_tensor {} = {{(void*)(uintptr_t){}, 1, 0, {}, {}, {}, 1, {}, NULL, 0}};", record, names_.of(buffer),
       buffer->shape.size(), static_cast<int>(type.code), static_cast<int>(type.bits), shape);
  return record;
}

}  // namespace relaxc::codegen_c
