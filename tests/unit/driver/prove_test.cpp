// prove_test.cpp: the exit code of `inspect --prove` where a schedule is wrong, which no input brings about.
#include <catch2/catch.hpp>
#include <fstream>

#include "compiler/driver/compile.h"
#include "compiler/support/temporary_folder.h"
#include "compiler/tir/visit.h"

namespace relaxc::driver {
namespace {

constexpr const char* kProgram = R"(@R.function
def main(x: R.Tensor((8, 4), "float32")) -> R.Tensor((8, 4), "float32"):
    with R.dataflow():
        y = R.add(x, x)
        R.output(y)
    return y
)";

/// The same kernel without what it stores.
tir::PrimFunc without_stores(arith::Context& context, tir::PrimFunc kernel) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](tir::Stmt s) {
    return s.as<tir::Store>() == nullptr ? s : tir::Stmt(context.arena().make<tir::Seq>());
  };
  kernel.body = tir::rewrite(context, kernel.body, rewriter);
  return kernel;
}

int exit_code(const std::string& prove, bool wrong) {
  Diagnostics diag;
  const TemporaryFolder folder;
  Options options;
  options.input = folder.file("add.relax");
  std::ofstream(options.input) << kProgram;
  options.tool.kind = ToolOptions::kInspect;
  options.tool.prove = prove;
  options.passes.prepare = [wrong](std::string_view pass, relax::Module& module, PassContext& context) -> Status {
    if (!wrong || pass != "schedule_kernels") return Done{};
    context.scheduled = [&module, take = context.scheduled](const auto& before, const auto& after, const auto& packed,
                                                            const auto& facts) {
      take(before, without_stores(module.context(), after), packed, facts);
    };
    return Done{};
  };
  return compile(options);
}

TEST_CASE("the exit code is 1 if the schedule of a kernel is refuted") {
  CHECK(exit_code("all", false) == 0);
  CHECK(exit_code("all", true) == 1);
  CHECK(exit_code("kernels", true) == 1);
  CHECK(exit_code("memory", true) == 0);
}

}  // namespace
}  // namespace relaxc::driver
