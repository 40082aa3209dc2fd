// external_pattern.h: subgraphs that a function of a library computes, as rows of data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/relax/tensor_rule.h"
#include "compiler/transform/graph/rewriting/op_pattern.h"

namespace relaxc {

/// One row of a pattern file (docs/external-codegen.md).
struct ExternalPattern {
  /// What an operand must be. Names in its dims get their value by their first use.
  struct Operand {
    std::string name;
    relax::RuleTensor rule;
  };
  /// A value that is passed, or a tensor with its axes in another order: axis i of it is axis axes[i] of the operand.
  struct Argument {
    relax::RuleDim value;  ///< a name may also be an operand's or an attribute's
    std::vector<int64_t> axes;
  };
  struct Condition {
    enum Kind { kEqual, kUnequal, kLess, kLessEqual };
    Kind kind = kEqual;
    relax::RuleDim a, b;
  };

  std::string name;  ///< also the Composite of functions that it stands for
  std::optional<PatternNode>
      pattern;  ///< an operator, or alternatives that are; none: only functions of that name are meant
  std::vector<std::string> parameters;  ///< without a pattern: names of the function's parameters
  std::vector<Operand> operands;
  std::optional<relax::RuleTensor> result;
  std::vector<Condition> conditions;      ///< all of them must be known to hold
  std::optional<relax::RuleDim> scratch;  ///< bytes of memory that the function may use
  std::string function;                   ///< in C
  std::vector<Argument> arguments;
  std::vector<int64_t> result_axes;  ///< not empty: axis i of the result is axis result_axes[i] of what is filled
};

struct ExternalPatterns {
  std::vector<ExternalPattern> rows;
};

}  // namespace relaxc
