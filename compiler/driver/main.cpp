// main.cpp: the relaxc program.
#include <csignal>

#include "compiler/driver/compile.h"
#include "compiler/driver/report.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write(), with a message
  return relaxc::driver::last_resort([&] {
    relaxc::driver::CommandLine line = relaxc::driver::read_command_line(argc, argv);
    return line.exit ? *line.exit : relaxc::driver::compile(line.options);
  });
}
