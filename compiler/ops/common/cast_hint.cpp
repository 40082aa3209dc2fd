// cast_hint.cpp: see cast_hint.h.
#include "compiler/ops/common/cast_hint.h"

#include <variant>

namespace relaxc::ops {

std::string cast_hint(const InferContext& c) {
  bool of_model = c.op.location != nullptr && std::holds_alternative<NodeOrigin>(*c.op.location);
  return of_model ? "put a Cast node before one of them" : "cast one with astype";
}

}  // namespace relaxc::ops
