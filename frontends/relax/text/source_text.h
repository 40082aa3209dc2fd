// source_text.h: the file that is read, and errors at its places.
//
// Each place has one Location, made on demand, so that Diagnostics recognizes identical messages. A file of random
// bytes would have an error for each byte; after kMostErrors the others are counted, not printed.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "compiler/support/diagnostics.h"

namespace relaxc::frontend {

/// `length` bytes from byte `begin`.
struct Place {
  uint32_t begin = 0, length = 0;
  uint32_t end() const { return begin + length; }
};
/// Returns the smallest place that contains both.
inline Place join(Place a, Place b) {
  uint32_t begin = a.begin < b.begin ? a.begin : b.begin;
  uint32_t end = a.end() > b.end() ? a.end() : b.end();
  return {begin, end - begin};
}

class SourceText {
 public:
  SourceText(const SourceFile* file, Sources& sources, Diagnostics& diag)
      : file_(file), sources_(sources), diag_(diag) {}

  const std::string& text() const { return file_->text; }
  Diagnostics& diag() const { return diag_; }

  Location at(Place place) {
    Location& location = locations_[{place.begin, place.length}];
    if (location == nullptr) location = sources_.at(TextSpan{file_, place.begin, place.length});
    return location;
  }

  template <typename... Args>
  Failure error(Place place, Kind kind, fmt::format_string<Args...> format, Args&&... args) {
    suppressed_ = reported_ > kMostErrors;
    if (suppressed_) return diag_.failed();
    if (++reported_ > kMostErrors) {
      suppressed_ = true;
      return diag_.error(at(place), kind, "too many errors; the first {} are shown", kMostErrors);
    }
    return diag_.error(at(place), kind, format, std::forward<Args>(args)...);
  }
  /// Adds a note to the last error; `place` is where its explanation is.
  template <typename... Args>
  void note(Place place, fmt::format_string<Args...> format, Args&&... args) {
    if (!suppressed_) diag_.note(at(place), format, std::forward<Args>(args)...);
  }
  /// Returns true if the last error was not printed, so that its explanation is not needed.
  bool suppressed() const { return suppressed_; }
  /// Adds a note without a place: a way out.
  template <typename... Args>
  void hint(fmt::format_string<Args...> format, Args&&... args) {
    if (!suppressed_) diag_.note(nullptr, format, std::forward<Args>(args)...);
  }

 private:
  static constexpr size_t kMostErrors = 100;
  const SourceFile* file_;
  Sources& sources_;
  Diagnostics& diag_;
  std::map<std::pair<uint32_t, uint32_t>, Location> locations_;
  size_t reported_ = 0;
  bool suppressed_ = false;
};

}  // namespace relaxc::frontend
