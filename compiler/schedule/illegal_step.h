// illegal_step.h: a step of a schedule that would change what a kernel computes, or names what is not there.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "compiler/support/check.h"

namespace relaxc::schedule {

/// Thrown by primitives. Of a rule it is a bug; who applies a trace that somebody wrote turns it into a message
/// (trace.h).
class IllegalStep : public InternalError {
 public:
  explicit IllegalStep(std::string reason)
      : InternalError("a schedule's step is legal", __FILE__, __LINE__, reason), reason_(std::move(reason)) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

inline void require(bool legal, const char* reason) {
  if (!legal) throw IllegalStep(reason);
}
/// `reason()` is a text that is only made where it is needed.
template <typename F>
requires std::is_invocable_r_v<std::string, F>
void require(bool legal, F reason) {
  if (!legal) throw IllegalStep(reason());
}

}  // namespace relaxc::schedule
