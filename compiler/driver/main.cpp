// main.cpp: the relaxc program.
#include <csignal>

#include "compiler/driver/command_line/command_line.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/tools/tools.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write(), with a message
  return relaxc::driver::last_resort([&] {
    relaxc::driver::CommandLine line = relaxc::driver::read_command_line(argc, argv);
    if (line.exit) return *line.exit;
    bool tool = line.options.tool.kind != relaxc::driver::ToolOptions::kNone;
    return tool ? relaxc::driver::run_tool(line.options) : relaxc::driver::compile(line.options);
  });
}
