// compile_relax.cpp: no text may crash relaxc between the parser and the C that it writes, and a text that is refused
// has been given a reason.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "compiler/codegen/c/emit.h"
#include "compiler/interface/header.h"
#include "compiler/ops/op_table.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/pipeline/runner.h"
#include "compiler/relax/verify.h"
#include "frontends/relax/parser.h"

namespace {

void compile(const std::string& text) {
  using namespace relaxc;
  static const relax::OpTable table = ops::op_table();
  Diagnostics diag;
  auto module = frontend::parse_module("input.relax", text, table, diag);
  if (!module) {
    RELAXC_CHECK(diag.has_errors(), "a text is refused without a reason");
    render(diag);
    return;
  }
  std::string fault = relax::first_fault(*module);
  RELAXC_CHECK(fault.empty(), fault);
  interface::Object object;
  Target target;
  auto evaluator = tir::make_interpreter();
  PassContext context{table, target, diag, *evaluator, 2, &object};
  if (!run_passes(compile_pipeline(), *module, context, {})) {
    RELAXC_CHECK(diag.has_errors(), "a program is refused without a reason");
    render(diag);
    return;
  }
  object.name = "input";
  interface::c_header(object);
  codegen_c::emit_c(object, "input",
                    [](const std::string&) -> codegen_c::Write { return [](std::string_view) { return true; }; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    compile(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const relaxc::InternalError& error) {
    std::cerr << error.what() << std::endl;
    std::abort();
  }
  return 0;
}
