// metadata.h: reads the constants that TVM prints beside a module.
#pragma once

#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// Returns the constants of `metadata["relax.expr.Constant"]` for `metadata = tvm.ir.load_json(argument)`, in order;
/// empty if the metadata has none. `argument` is JSON in a string, or written as a dict. Reports malformed JSON, JSON
/// that is no graph of a known format, and incomplete tensors.
Result<std::vector<relax::ConstantRef>> read_metadata(SourceText& source, const ast::Expr& argument);
/// The same for the JSON at `place` of the text, where Relay has it.
Result<std::vector<relax::ConstantRef>> read_metadata(SourceText& source, Place place);

}  // namespace relaxc::frontend
