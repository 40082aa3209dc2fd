// main.cpp: the relaxc program.
#include "compiler/codegen/llvm/failure.h"
#include "compiler/driver/command_line/command_line.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/tools/tools.h"
#include "compiler/support/termination.h"

int main(int argc, char** argv) {
  relaxc::prepare_termination();
  relaxc::codegen_llvm::end_on_failure();
  return relaxc::driver::run_guarded([&] {
    relaxc::driver::CommandLine line = relaxc::driver::read_command_line(argc, argv);
    if (line.exit) return *line.exit;
    if (!relaxc::limit_process(line.options.time_limit, line.options.memory_limit))
      relaxc::terminate_now("the system rejects the limit of --time-limit or --max-memory");
    bool tool = line.options.tool.kind != relaxc::driver::ToolOptions::kNone;
    return tool ? relaxc::driver::run_tool(line.options) : relaxc::driver::compile(line.options);
  });
}
