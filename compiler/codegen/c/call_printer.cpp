// call_printer.cpp: see call_printer.h.
#include "compiler/codegen/c/call_printer.h"

#include "compiler/interface/dlpack.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::codegen_c {

using arith::Expr;
using tir::BufferRef;

Convention CallPrinter::convention_of(const tir::Invoke& node) const {
  return node.plain      ? Convention{node.status, false, node.callee}
         : node.external ? Convention{true, true, node.callee}
                         : conventions_.at(node.callee);
}

/// The arguments between context and error. `results` gets the lines after the call that take results of unknown size.
std::string CallPrinter::arguments(const tir::Invoke& node, std::vector<std::string>& results) {
  const bool by_records = node.external && !node.runtime && !node.plain;
  std::string args;
  auto add = [&](const std::string& arg) { args += (args.empty() ? "" : ", ") + arg; };
  for (const tir::Argument& argument : node.args) {
    if (const auto* e = std::get_if<Expr>(&argument)) {
      add(values_.computed(*e));
      continue;
    }
    const BufferRef buffer = std::get<BufferRef>(argument);
    if (!by_records)
      add(names_.of(buffer));
    else if (buffer->dtype == DType::handle())
      add(handle_argument(buffer, node.error_node, results));
    else
      add("&" + tensor_record(buffer));
  }
  return args;
}

void CallPrinter::print(const tir::Invoke& node) {
  out_.open("{");
  const Convention callee = convention_of(node);
  std::vector<std::string> results;
  std::string args = callee.context ? handed_.context : "";
  auto add = [&](const std::string& arg) {
    if (!arg.empty()) args += (args.empty() ? "" : ", ") + arg;
  };
  add(arguments(node, results));
  const tir::Guard named = tir::overflow_of(function_, node);
  values_.check_overflow(node.error_node >= 0 ? &named : nullptr);
  if (callee.fails && (!node.external || node.runtime)) add(handed_.error);
  const std::string call = (node.external ? node.callee : callee.name) + "(" + args + ")";
  const bool hooked = hooks_.at(node.trace_node);
  if (hooked && hooks_.poll) poll(node.trace_node);
  if (hooked && hooks_.trace) trace(node.trace_node, true);
  if (callee.fails)
    out_.line("const int32_t status = {};", call);
  else
    out_.line("{}{};", node.plain ? "(void)" : "", call);
  if (hooked && hooks_.trace) trace(node.trace_node, false);  // whatever the status
  if (callee.fails) leave_if_failed(node);
  values_.declare(results);
  out_.close();
}

void CallPrinter::leave_if_failed(const tir::Invoke& node) {
  if (node.external && !node.runtime && !node.status)
    out_.line("if (status != 0) return {}(error, RLX_EXTERNAL_FAILED, -1, -1, -1, {}, 0, status);",
              values_.expressions().helper("fail"), node.error_node);
  else
    out_.line("if (status != 0) return {};", failed("status", node.error_node));
}

/// The status to return after a failed call. The error record gets the call's node, unless it already names a node.
std::string CallPrinter::failed(const std::string& status, int32_t node) {
  return node < 0 ? status
                  : fmt::format("{}(error, {}, {})", values_.expressions().helper("name_failure"), status, node);
}

void CallPrinter::trace(int32_t node, bool begin) {
  out_.line("if (context != NULL && context->trace != NULL) context->trace(context->trace_user, {}, {});", node,
            begin ? 1 : 0);
}

void CallPrinter::poll(int32_t node) {
  out_.open("if (context != NULL && context->poll != NULL) {");
  out_.line("const int32_t answer = context->poll(context->poll_user, {});", node);
  out_.line("if (answer != 0) return {}(error, RLX_POLLED, -1, -1, -1, {}, 0, answer);",
            values_.expressions().helper("fail"), node);
  out_.close();
}

/// The argument for a handle: the handle, the place for one, or the place for a tensor (see tir::Invoke).
std::string CallPrinter::handle_argument(BufferRef buffer, int32_t node, std::vector<std::string>& results) {
  std::string words = names_.of(buffer), record = names_.fresh(words + "_result");
  if (buffer->shape.empty()) return "(rlx_object*)(uintptr_t)*" + words;
  if (buffer->shape[0].is_constant(1)) {
    out_.line("rlx_object* {} = NULL;", record);
    results.push_back(fmt::format("*{} = (uint64_t)(uintptr_t){};", words, record));
    return "&" + record;
  }
  out_.line("rlx_tensor {};", record);
  out_.line("{}((int64_t*){}, &{});", tir::runtime_name(tir::RuntimeFunction::kResultBegin), words, record);
  std::string code = names_.fresh("code");
  results.push_back(fmt::format("const int32_t {} = {}(&{}, (int64_t*){}, error);", code,
                                tir::runtime_name(tir::RuntimeFunction::kResultEnd), record, words));
  results.push_back(fmt::format("if ({} != 0) return {};", code, failed(code, node)));
  return "&" + record;
}

/// Declares an rlx_tensor that describes `buffer`, and gives its name.
std::string CallPrinter::tensor_record(BufferRef buffer) {
  std::string shape = names_.fresh(names_.of(buffer) + "_shape"), record = names_.fresh(names_.of(buffer) + "_tensor");
  out_.line("int64_t {}[{}];", shape, std::max<size_t>(buffer->shape.size(), 1));
  for (size_t i = 0; i < buffer->shape.size(); ++i)
    out_.line("{}[{}] = {};", shape, i, values_.hoisted(buffer->shape[i]));
  interface::DLPackType type = interface::dlpack_type(buffer->dtype);
  out_.line("rlx_tensor {} = {{(void*)(uintptr_t){}, 1, 0, {}, {}, {}, 1, {}, NULL, 0}};", record, names_.of(buffer),
            buffer->shape.size(), static_cast<int>(type.code), static_cast<int>(type.bits), shape);
  return record;
}

}  // namespace relaxc::codegen_c
