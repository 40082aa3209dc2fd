// support_page.cpp: docs/onnx-support.md is what the converters say it is.
//
// Usage: onnx_support_page FILE        fails if FILE is not the page
//        onnx_support_page --update FILE
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "frontends/onnx/import.h"

int main(int argc, char** argv) {
  std::string page = relaxc::frontend::onnx_support_page();
  if (argc == 3 && std::string(argv[1]) == "--update") {
    std::ofstream(argv[2]) << page;
    return 0;
  }
  if (argc != 2) {
    std::cerr << "usage: onnx_support_page [--update] FILE\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text == page) return 0;
  std::cerr << argv[1] << " is not what the converters give; run: onnx_support_page --update " << argv[1] << "\n";
  return 1;
}
