// metadata.h: the constants that TVM prints beside a module.
#pragma once

#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// What `metadata["relax.expr.Constant"]` is after `metadata = tvm.ir.load_json(argument)`, in its order; empty if the
/// metadata is about other things. `argument` is the JSON in a string, or written as a dict. Reports JSON that is
/// malformed, that is not a graph of either age, or whose tensors are not whole.
Result<std::vector<relax::ConstantRef>> read_metadata(SourceText& source, const ast::Expr& argument);
/// The same of the JSON at `place` of the text, where Relay has it.
Result<std::vector<relax::ConstantRef>> read_metadata(SourceText& source, Place place);

}  // namespace relaxc::frontend
