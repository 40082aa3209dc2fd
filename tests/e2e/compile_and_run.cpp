// compile_and_run.cpp: parse and interpret; compile, link and load.
#include "tests/e2e/compile_and_run.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "compiler/api/compile.h"
#include "compiler/ops/op_table.h"
#include "frontends/relax/parser.h"
#include "tests/e2e/externals.h"

namespace relaxc::e2e {
namespace {

using Answer = std::variant<std::vector<HostTensor>, std::string>;

const std::vector<HostTensor>& tensors_of(const Answer& answer, const char* who) {
  INFO(who << ": " << (answer.index() == 1 ? std::get<1>(answer) : ""));
  REQUIRE(answer.index() == 0);
  return std::get<0>(answer);
}

void require_same(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("output " << i);
    REQUIRE(a[i].dtype == b[i].dtype);
    REQUIRE(a[i].shape == b[i].shape);
    REQUIRE(values_of(a[i]) == values_of(b[i]));
    REQUIRE(a[i].bytes == b[i].bytes);
  }
}

}  // namespace

CompiledProgram::CompiledProgram(const std::string& file, api::CompileOptions options)
    : file_(std::string(RELAXC_SOURCE_DIR "/") + file) {
  REQUIRE(!folder_.path().empty());
  options.input = file_;
  options.runtime = RELAXC_RUNTIME_LIBRARY;
  llvm_ = load(options, "by_llvm", ".so");
  c_ = load(options, "by_c", ".c");
}

std::unique_ptr<LoadedModel> CompiledProgram::load(api::CompileOptions options, const std::string& name,
                                                   const char* extension) const {
  std::string stem = folder_.file(name);
  options.output = stem + extension;
  INFO(file_);
  Diagnostics diag;
  bool compiled = static_cast<bool>(api::compile_to_files(options, diag));
  INFO(render(diag));
  REQUIRE(compiled);
  if (std::string(extension) == ".c") {
    // The flags under which the text must be clean.
    std::string command = fmt::format(
        RELAXC_C_COMPILER
        " -std=c99 -O1 -ffp-contract=off -fPIC -shared -Wall -Wextra -pedantic -Werror -I " RELAXC_SOURCE_DIR
        "/runtime-lite/include -I {} -o {}.so {}.c " RELAXC_RUNTIME_LIBRARY " -lm",
        folder_.path().string(), stem, stem);
    REQUIRE(std::system(command.c_str()) == 0);
  }
  std::string fault;
  std::unique_ptr<LoadedModel> loaded = LoadedModel::open(stem + ".so", name, fault);
  INFO(fault);
  REQUIRE(loaded != nullptr);
  return loaded;
}

std::variant<std::vector<HostTensor>, relax::RunFault> CompiledProgram::interpreted(
    const std::vector<HostTensor>& inputs, uint32_t entry) const {
  std::ifstream in(file_, std::ios::binary);
  REQUIRE(in);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  relax::OpTable ops = ops::op_table();
  Diagnostics diag;
  Result<relax::Module> module = frontend::parse_module(file_, text, ops, diag);
  REQUIRE(module);
  const relax::Function* function = module->find_function(llvm_->function(entry).name);
  REQUIRE(function != nullptr);
  auto evaluator =
      tir::make_interpreter([&](const std::string& name) { return module->find_prim_func(name); }, call_external);
  return relax::interpret(*module, ops, *function, inputs, *evaluator, call_external);
}

std::string CompiledProgram::fault(const std::vector<HostTensor>& inputs, uint32_t entry) const {
  auto outcome = interpreted(inputs, entry);
  REQUIRE(outcome.index() == 1);
  return rlx_status_name(std::get<1>(outcome).status.code);
}

std::vector<HostTensor> CompiledProgram::run(const std::vector<HostTensor>& inputs, uint32_t entry) const {
  std::vector<HostTensor> compiled = run_compiled(inputs, entry);
  auto outcome = interpreted(inputs, entry);
  if (const auto* fault = std::get_if<relax::RunFault>(&outcome)) FAIL("the interpreter: " + fault->text);
  require_same(std::get<0>(outcome), compiled);
  return compiled;
}

std::vector<HostTensor> CompiledProgram::run_compiled(const std::vector<HostTensor>& inputs, uint32_t entry) const {
  Answer by_llvm = llvm_->run(inputs, LoadedModel::kApart, entry), by_c = c_->run(inputs, LoadedModel::kApart, entry);
  require_same(tensors_of(by_llvm, "LLVM backend"), tensors_of(by_c, "C backend"));
  return std::get<0>(by_llvm);
}

std::string CompiledProgram::refusal(const std::vector<HostTensor>& inputs, uint32_t entry) const {
  Answer by_llvm = llvm_->run(inputs, LoadedModel::kApart, entry), by_c = c_->run(inputs, LoadedModel::kApart, entry);
  REQUIRE(by_llvm.index() == 1);
  REQUIRE(by_c.index() == 1);
  REQUIRE(std::get<1>(by_llvm) == std::get<1>(by_c));
  return std::get<1>(by_llvm);
}

}  // namespace relaxc::e2e
