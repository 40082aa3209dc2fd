// external_call.h: binds a row of external patterns at a place of the graph, and makes the call that replaces it.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/relax/builder.h"
#include "compiler/transform/graph/external/external_pattern.h"

namespace relaxc {

/// An argument of a call: a tensor, an integer, or an attribute that is passed as a tensor.
struct ExternalArgument {
  std::variant<relax::Value*, arith::Expr, relax::AttrValue> what;
  std::vector<int64_t> axes;  ///< if not empty, the order of the tensor's axes
};

struct ExternalCallPlan {
  std::vector<ExternalArgument> arguments;
  arith::Expr scratch;  ///< in bytes; null: none
};

/// Returns the call that `row` makes with the holes of `match` and the result `result`, or why it makes none, as half a
/// sentence: "operand 'x' is int8[4], and must be float32[n]".
std::variant<ExternalCallPlan, std::string> plan_external_call(const ExternalPattern& row, const PatternMatch& match,
                                                               const relax::Value& result, const arith::Facts& facts);

struct MadeCall {
  relax::Op* call;
  relax::Value* result;  ///< of the call, with its axes in the order of the graph
};
/// Makes the call at the position of `builder`; its result has the name and the info of `result`.
MadeCall make_external_call(const ExternalPattern& row, const ExternalCallPlan& plan, const relax::Value& result,
                            relax::GraphBuilder& builder);

}  // namespace relaxc
