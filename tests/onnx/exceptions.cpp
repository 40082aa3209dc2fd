// exceptions.cpp: reads the list.
#include "tests/onnx/exceptions.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace relaxc::onnx_tests {

Exceptions::Exceptions(const std::string& path, std::string& fault) {
  std::ifstream file(path);
  if (!file) fault = "cannot read " + path;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    size_t space = line.find(' '), colon = line.find(": ");
    Exception exception;
    bool known = space != std::string::npos && colon != std::string::npos && space < colon;
    std::istringstream words(line.substr(0, known ? space : 0));
    for (std::string word; std::getline(words, word, ',');) {
      if (word == "allocates")
        exception.allocates = true;
      else if (word == "symbolic")
        exception.only.symbolic = true;
      else if (word == "compiled")
        exception.only.compiled = true;
      else
        known = known && word == "fails";
    }
    if (!known) {
      fault = fmt::format("{}:{}: expected 'fails' or 'allocates', a test, ': ' and the reason", path, number);
      return;
    }
    exception.reason = line.substr(colon + 2);
    tests_[line.substr(space + 1, colon - space - 1)].push_back(std::move(exception));
  }
}

const Exception* Exceptions::find(const std::string& test, const Form& form, bool allocates) const {
  auto found = tests_.find(test);
  if (found == tests_.end()) return nullptr;
  for (const Exception& exception : found->second)
    if (exception.allocates == allocates && (form.symbolic || !exception.only.symbolic) &&
        (form.compiled || !exception.only.compiled))
      return &exception;
  return nullptr;
}

}  // namespace relaxc::onnx_tests
