// main.cpp: the relaxc program: exit codes and the last catch.
#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "compiler/driver/compile.h"
#include "compiler/support/check.h"

namespace {

constexpr int kInternal = 70;

int internal_error(const char* what) {
  fmt::print(stderr,
             "relaxc: internal error: {}\n"
             "this is a bug of relaxc; please report it with the input and the command line\n",
             what);
  return kInternal;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    relaxc::driver::CommandLine line = relaxc::driver::read_command_line(argc, argv);
    return line.exit ? *line.exit : relaxc::driver::compile(line.options);
  } catch (const relaxc::InternalError& error) {
    return internal_error(error.what());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "relaxc: error: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    return internal_error(error.what());
  }
}
