// diagnostics.cpp: collects messages; render.cpp formats them.
#include "compiler/support/diagnostics.h"

#include <algorithm>

#include "compiler/support/check.h"

namespace relaxc {

std::string_view kind_name(Kind kind) {
  switch (kind) {
#define X(name)    \
  case Kind::name: \
    return #name;
    RELAXC_DIAGNOSTIC_KINDS(X)
#undef X
  }
  RELAXC_UNREACHABLE();
}

Failure Diagnostics::report(Severity severity, Location location, Kind kind, std::string text) {
  auto same = [&](const Diagnostic& other) {
    return other.severity == severity && other.location == location && other.kind == kind && other.text == text;
  };
  last_was_duplicate_ = std::any_of(all_.begin(), all_.end(), same);
  if (!last_was_duplicate_) {
    all_.push_back({severity, kind, location, std::move(text), {}});
    if (severity == Severity::kError) ++errors_;
  }
  return Failure();
}

void Diagnostics::add_note(Location location, std::string text) {
  RELAXC_CHECK(!all_.empty(), "a note needs a message");
  if (!last_was_duplicate_) all_.back().notes.push_back({location, std::move(text)});
}

Failure Diagnostics::failed() const {
  RELAXC_CHECK(has_errors(), "a stage failed without reporting why");
  return Failure();
}

}  // namespace relaxc
