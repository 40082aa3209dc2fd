// diagnostics.h: messages about the user's program.
//
// Errors are collected, not thrown: a stage continues to find the next one if that makes sense. Only reporting an error
// makes a Failure, and a failed Result is made from a Failure, so no error is lost without a message.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/support/source.h"

namespace relaxc {

/// The kinds of messages; tests and `--check=json` use the names of `kind_name`.
// clang-format off
#define RELAXC_DIAGNOSTIC_KINDS(X) \
  X(syntax) X(unbound_name) X(redefinition) X(wrong_arity) X(unknown_operator) X(unsupported) X(dtype_mismatch) \
  X(shape_mismatch) X(rank_mismatch) X(invalid_attribute) X(invalid_value) X(ill_formed) X(purity) X(overflow) \
  X(unbounded) X(malformed_model) X(missing_data) X(io) X(usage) X(cancelled)
// clang-format on

enum class Kind {
#define X(name) name,
  RELAXC_DIAGNOSTIC_KINDS(X)
#undef X
};
std::string_view kind_name(Kind kind);

enum class Severity { kError, kWarning };

struct Note {
  Location location = nullptr;
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::kError;
  Kind kind = Kind::ill_formed;
  Location location = nullptr;
  std::string text;
  std::vector<Note> notes;
};

/// Proof that an error was reported; converts to any failed Result.
class Failure {
 private:
  friend class Diagnostics;
  template <typename T>
  friend class Result;  // a failed Result makes a Failure as well
  Failure() = default;
};

/// The messages of one compilation, in the order of reporting. Identical messages at one location are kept once.
class Diagnostics {
 public:
  /// Reports an error: one sentence in lower case that says what was found and what would be right.
  template <typename... Args>
  Failure error(Location location, Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    return report(Severity::kError, location, kind, fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void warning(Location location, Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    report(Severity::kWarning, location, kind, fmt::format(text, std::forward<Args>(args)...));
  }
  /// Adds a note to the latest message: a way out, "did you mean", the location of a declaration.
  template <typename... Args>
  void note(Location location, fmt::format_string<Args...> text, Args&&... args) {
    add_note(location, fmt::format(text, std::forward<Args>(args)...));
  }

  /// Keeps the Sources to which messages point alive as long as the messages, for a module that could not be
  /// made.
  void keep(std::shared_ptr<const void> origins) { kept_.push_back(std::move(origins)); }

  /// Returns a Failure for a stage that ends because of errors reported earlier; there must be one.
  Failure failed() const;

  bool has_errors() const { return errors_ > 0; }
  size_t error_count() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  Failure report(Severity severity, Location location, Kind kind, std::string text);
  void add_note(Location location, std::string text);

  std::vector<Diagnostic> all_;
  std::vector<std::shared_ptr<const void>> kept_;
  size_t errors_ = 0;
  bool last_was_duplicate_ = false;
};

/// The style of messages: `color` is for a terminal.
struct RenderOptions {
  bool color = false;
};
/// Returns all messages as text: source line and caret for text IR; node, op and opset for ONNX.
std::string render(const Diagnostics& diagnostics, RenderOptions options = {});

}  // namespace relaxc
