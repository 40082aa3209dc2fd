// plan.h: what one compilation is to write, and where.
#pragma once

#include <string>

#include "compiler/api/compile_options.h"
#include "compiler/support/result.h"

namespace relaxc::api {

struct OutputPlan {
  Emit emit = Emit::kObject;
  std::string name;     ///< prefix of every global symbol
  std::string output;   ///< the object, assembly, C …
  std::string header;   ///< beside it; empty: none
  std::string weights;  ///< a file of the weights alone; empty: decided by how many there are
  std::string params;   ///< where the large constants of a text go; empty: none
  std::string depfile;  ///< empty: none wanted
  std::string script;   ///< a module of JavaScript that loads the output, which is WebAssembly; empty: none
};

/// Decides form, name and files from the options. Fails (usage) if the extension selects no format, if the name cannot
/// begin C names, or if one file would be two of input, output, header and dependency file.
Result<OutputPlan> plan_outputs(const CompileOptions& options, Diagnostics& diag);

/// Decides where weights of this size go: leaves `plan.weights` empty for "into the object". Fails as plan_outputs
/// does.
Status plan_weights(OutputPlan& plan, uint64_t bytes, const CompileOptions& options, Diagnostics& diag);

/// True if the options ask for the module as text: the text IR or a graph.
bool names_text(const CompileOptions& options);

/// True if every global symbol may begin with `name`: a C identifier that is not a keyword and does not begin with
/// "rlx".
bool is_model_name(const std::string& name);
/// A name near to `name` for which is_model_name holds: "mnist-8" gives "mnist_8".
std::string valid_model_name(const std::string& name);

}  // namespace relaxc::api
