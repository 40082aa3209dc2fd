// harness.cpp: see harness.h.
#include "tests/unit/pipeline/harness.h"

#include <catch2/catch.hpp>

#include "frontends/relax/parser.h"

namespace relaxc::test {

Program::Program(const std::string& text) {
  auto module = frontend::parse_module("program.relax", text, ops_, diag_);
  INFO(render(diag_));
  REQUIRE(module);
  module_ = std::make_unique<relax::Module>(std::move(*module));
}

void Program::run(const std::vector<Pass>& passes, const PassOptions& options, tir::Evaluator* evaluator) {
  std::unique_ptr<tir::Evaluator> own = tir::make_interpreter();
  Target target;
  PassContext context{ops_, target, diag_, evaluator == nullptr ? *own : *evaluator};
  context.object = &object_;
  Status done = run_passes(passes, *module_, context, options);
  INFO(render(diag_));
  REQUIRE(done);
}

std::vector<Pass> passes(const std::vector<std::string>& names) {
  std::vector<Pass> list;
  for (const std::string& name : names) {
    INFO(name);
    const Pass* pass = find_pass(name);
    REQUIRE(pass != nullptr);
    list.push_back(*pass);
  }
  return list;
}

}  // namespace relaxc::test
