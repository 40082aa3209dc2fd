// external_pattern.h: subgraphs that functions of libraries compute, as rows of data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/relax/tensor_rule.h"
#include "compiler/transform/graph/rewriting/op_pattern.h"

namespace relaxc {

/// One row of a pattern file (docs/external-codegen.md).
struct ExternalPattern {
  /// What an operand must be. A name in its dims is bound by its first use.
  struct Operand {
    std::string name;
    relax::RuleTensor rule;
  };
  /// A value to pass, or a tensor with permuted axes: axis i of it is axis axes[i] of the operand.
  struct Argument {
    relax::RuleDim value;  ///< a name may also be that of an operand or an attribute
    std::vector<int64_t> axes;
  };
  struct Condition {
    enum Kind { kEqual, kUnequal, kLess, kLessEqual };
    Kind kind = kEqual;
    relax::RuleDim a, b;
  };

  std::string name;  ///< also the attribute Composite of functions that it replaces
  std::optional<PatternNode>
      pattern;  ///< an operator, or alternatives of operators; none: only functions of that name are replaced
  std::vector<std::string> parameters;  ///< without a pattern: names of the function's parameters
  std::vector<Operand> operands;
  std::optional<relax::RuleTensor> result;
  std::vector<Condition> conditions;      ///< must all be proved
  std::optional<relax::RuleDim> scratch;  ///< bytes of scratch memory for the function
  std::string function;                   ///< its name in C
  std::vector<Argument> arguments;
  std::vector<int64_t> result_axes;  ///< if not empty: axis i of the result is axis result_axes[i] of the filled tensor
};

struct ExternalPatterns {
  std::vector<ExternalPattern> rows;
};

}  // namespace relaxc
