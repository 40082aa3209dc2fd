// metadata.h: reads the constants that TVM prints beside a module.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// What the metadata of a module holds, in order.
struct Metadata {
  std::vector<relax::ConstantRef> constants;  ///< of metadata["relax.expr.Constant"], or of Relay's constants
  std::vector<relax::ConstantRef> tensors;    ///< of metadata["ffi.Tensor"], which attributes of functions refer to
};

/// Whether `key` is what one of TVM's releases calls tensors: metadata["ffi.Tensor"].
bool names_tensors(std::string_view key);

/// Returns what is in `metadata = tvm.ir.load_json(argument)`; empty lists if the metadata has none. `argument` is JSON
/// in a string, or written as a dict. Reports malformed JSON, JSON that is no graph of a known format, and incomplete
/// tensors.
Result<Metadata> read_metadata(SourceText& source, const ast::Expr& argument);
/// The same for the JSON at `place` of the text, where Relay has it.
Result<Metadata> read_metadata(SourceText& source, Place place);

}  // namespace relaxc::frontend
