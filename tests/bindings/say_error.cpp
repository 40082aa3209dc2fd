// say_error.cpp: calls a model in a shared library by relax_rt.hpp and prints what the exception says.
//
// Usage: say_error LIBRARY MODEL { CODE BITS DIMS FILE }, an input as four words: DIMS is "2,3" or "-" for a scalar,
// FILE holds the elements.
#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "relax_rt.hpp"

namespace {

struct Input {
  std::vector<char> bytes;
  relax::View view{};
};

Input read(char** words) {
  Input input;
  std::ifstream file(words[3], std::ios::binary);
  input.bytes.assign(std::istreambuf_iterator<char>(file), {});
  std::vector<std::int64_t> shape;
  std::istringstream dims(words[2]);
  for (std::string dim; std::getline(dims, dim, ',');)
    if (dim != "-") shape.push_back(std::stoll(dim));
  input.view.data = input.bytes.data();
  input.view.code = static_cast<std::uint8_t>(std::stoi(words[0]));
  input.view.bits = static_cast<std::uint8_t>(std::stoi(words[1]));
  input.view.shape = shape;
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  const auto* model = static_cast<const rlx_model*>(library == nullptr ? nullptr : dlsym(library, argv[2]));
  if (model == nullptr) return 2;
  std::vector<Input> inputs;
  for (int i = 3; i + 3 < argc; i += 4) inputs.push_back(read(argv + i));
  std::vector<relax::View> views;
  for (const Input& input : inputs) views.push_back(input.view);
  try {
    relax::Model(*model).run(views);
  } catch (const relax::Error& error) {
    std::puts(error.what());
    return 1;
  }
  return 0;
}
