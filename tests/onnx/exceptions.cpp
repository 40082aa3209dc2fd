// exceptions.cpp: reads the list.
#include "tests/onnx/exceptions.h"

#include <fmt/format.h>

#include <algorithm>
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
        exception.kind = Exception::kAllocates;
      else if (word == "random")
        exception.kind = Exception::kRandom;
      else if (word == "symbolic")
        exception.only.symbolic = true;
      else if (word == "compiled")
        exception.only.compiled = true;
      else if (word == "unoptimized")
        exception.only.unoptimized = true;
      else
        known = known && word == "fails";
    }
    if (!known) {
      fault =
          fmt::format("{}:{}: expected 'fails', 'allocates' or 'random', a test, ': ' and the reason", path, number);
      return;
    }
    exception.reason = line.substr(colon + 2);
    tests_[line.substr(space + 1, colon - space - 1)].push_back(std::move(exception));
  }
}

bool Exceptions::has(Exception::Kind kind, const std::string& test, const Form& form) const {
  auto found = tests_.find(test);
  return found != tests_.end() && std::any_of(found->second.begin(), found->second.end(), [&](const Exception& e) {
           return e.kind == kind && (form.symbolic || !e.only.symbolic) && (form.compiled || !e.only.compiled) &&
                  (form.unoptimized || !e.only.unoptimized);
         });
}

}  // namespace relaxc::onnx_tests
