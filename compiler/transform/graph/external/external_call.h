// external_call.h: a place of the graph where a row of external patterns fits, and the call that replaces it.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/relax/builder.h"
#include "compiler/transform/graph/external/external_pattern.h"

namespace relaxc {

/// What an argument of a call is: a tensor, an integer, or an attribute that is passed as a tensor.
struct ExternalArgument {
  std::variant<relax::Value*, arith::Expr, relax::AttrValue> what;
  std::vector<int64_t> axes;  ///< not empty: the order of a tensor's axes
};

struct ExternalCallPlan {
  std::vector<ExternalArgument> arguments;
  arith::Expr scratch;  ///< bytes; null: none
};

/// The call that `row` makes where the names of its holes are those of `match` and the result is `result`; or why it
/// makes none, as half a sentence: "operand 'x' is int8[4], and must be float32[n]".
std::variant<ExternalCallPlan, std::string> plan_external_call(const ExternalPattern& row, const PatternMatch& match,
                                                               const relax::Value& result, const arith::Facts& facts);

struct MadeCall {
  relax::Op* call;
  relax::Value* result;  ///< of the call, or that with its axes in the order of the graph
};
/// Makes the call where `builder` is; its result has the name and the info of `result`.
MadeCall make_external_call(const ExternalPattern& row, const ExternalCallPlan& plan, const relax::Value& result,
                            relax::GraphBuilder& builder);

}  // namespace relaxc
