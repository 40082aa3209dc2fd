// constant_reader.h: reads R.const(…).
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// Returns the data of a number or of nested lists of numbers. Without a dtype integers are int32, floats float32,
/// bools bool, as in TVM. `shape` (of as many elements) says what lists cannot express: dims of zero.
Result<relax::ConstantRef> read_constant(SourceText& source, const ast::Expr& value, std::optional<DType> dtype,
                                         const std::optional<std::vector<int64_t>>& shape);

}  // namespace relaxc::frontend
