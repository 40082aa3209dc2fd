// exceptions.h: the tests that do not pass, each with the one reason why.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace relaxc::onnx_tests {

/// How models are run.
struct Form {
  bool symbolic = false;  ///< the sizes of all inputs are taken away
  bool compiled = false;
  bool unoptimized = false;  ///< compiled at level 0
};

/// A line of the file: `fails,symbolic SUITE/FOLDER: reason`. `fails`: it gives no right answer. `allocates`: compiled,
/// it asks for memory while it runs. `random`: what is expected was drawn, so that shapes and types are all there is to
/// compare. With `symbolic`, `compiled` or `unoptimized` behind it the line speaks of runs of that form alone.
struct Exception {
  enum Kind { kFails, kAllocates, kRandom } kind = kFails;
  Form only;
  std::string reason;
};

class Exceptions {
 public:
  /// Reads the file; the fault is set to what is wrong with it, if anything.
  Exceptions(const std::string& path, std::string& fault);

  /// Whether the file says so of the test in this form.
  bool has(Exception::Kind kind, const std::string& test, const Form& form) const;
  /// Every test that the file names, in order.
  const std::map<std::string, std::vector<Exception>>& all() const { return tests_; }

 private:
  std::map<std::string, std::vector<Exception>> tests_;
};

}  // namespace relaxc::onnx_tests
