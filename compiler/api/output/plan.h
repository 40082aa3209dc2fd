// plan.h: decides which files a compilation writes.
#pragma once

#include <string>

#include "compiler/api/compile_options.h"
#include "compiler/interface/javascript.h"
#include "compiler/support/result.h"

namespace relaxc::api {

struct OutputPlan {
  Emit emit = Emit::kObject;
  std::string name;     ///< prefix of every global symbol
  std::string output;   ///< the object, assembly, C …
  std::string header;   ///< beside `output`; empty: none
  std::string weights;  ///< a file for the weights alone; empty: their size decides
  std::string params;   ///< a file for the large constants of a text; empty: none
  std::string depfile;  ///< empty: none
  std::string script;   ///< a JavaScript module that loads the output, which is WebAssembly; empty: none
  /// Binaries beside the output that the module prefers, the best first.
  std::vector<interface::WasmVersion> versions;
};

/// Decides format, name and files from the options. The name is `options.name`, or near the output's stem. Fails
/// (usage) if the extension selects no format, if C names cannot begin with `options.name`, or if two of input, output,
/// header and dependency file would be the same file.
Result<OutputPlan> plan_outputs(const CompileOptions& options, Diagnostics& diag);

/// Decides where weights of this size go; an empty `plan.weights` afterwards means "into the object". Fails like
/// plan_outputs.
Status plan_weights(OutputPlan& plan, uint64_t bytes, const CompileOptions& options, Diagnostics& diag);

/// Fails (usage) if a report is asked for that is neither a page nor data, or beside an output that is text.
Status check_report(const CompileOptions& options, Diagnostics& diag);

/// Returns true if the options select the module as text: the text IR or a graph.
bool names_text(const CompileOptions& options);

/// Returns true if global symbols may begin with `name`: a C identifier that is not a keyword and does not begin with
/// "rlx".
bool is_model_name(const std::string& name);
/// Returns a name similar to `name` that satisfies is_model_name: "mnist_8" for "mnist-8".
std::string valid_model_name(const std::string& name);

}  // namespace relaxc::api
