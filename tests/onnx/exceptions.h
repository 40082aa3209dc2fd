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
};

/// A line of the file: `fails,symbolic SUITE/FOLDER: reason`. `fails`: it gives no right answer. `allocates`: compiled,
/// it asks for memory while it runs. With `symbolic` or `compiled` behind it the line speaks of runs of that form
/// alone.
struct Exception {
  bool allocates = false;
  Form only;
  std::string reason;
};

class Exceptions {
 public:
  /// Reads the file; the fault is set to what is wrong with it, if anything.
  Exceptions(const std::string& path, std::string& fault);

  /// The exception of a test in a form, or null.
  const Exception* failing(const std::string& test, const Form& form) const { return find(test, form, false); }
  const Exception* allocating(const std::string& test, const Form& form) const { return find(test, form, true); }
  /// Every test that the file names, in order.
  const std::map<std::string, std::vector<Exception>>& all() const { return tests_; }

 private:
  const Exception* find(const std::string& test, const Form& form, bool allocates) const;
  std::map<std::string, std::vector<Exception>> tests_;
};

}  // namespace relaxc::onnx_tests
