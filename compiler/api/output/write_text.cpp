// write_text.cpp: writes the text IR with its file of constants, and graphs.
#include "compiler/api/output/write_text.h"

#include <filesystem>

#include "compiler/api/input/weights.h"
#include "compiler/api/observe/graph_view.h"
#include "compiler/api/output/write_object.h"
#include "compiler/relax/print.h"
#include "compiler/transform/tvm/tvm_dialect.h"

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

Status write_program(const CompileOptions& options, const OutputPlan& plan, const relax::Module& module,
                     const std::vector<relax::FileRef>& files, Outputs& outputs, Diagnostics& diag) {
  std::vector<relax::ConstantRef> constants = relax::large_constants(module);
  std::string text = options.dialect == "tvm" ? tvm_text(module) : relax::to_string(module);
  if (constants.empty()) return outputs.write(plan.output, text);
  for (const relax::FileRef& file : files)
    if (std::error_code none; fs::equivalent(file->path(), plan.params, none))
      return diag.error(nullptr, Kind::usage, "'{}' cannot be both read and the file of constants", file->path());
  RELAXC_DO(outputs.write(plan.output, load_params_line(fs::path(plan.params).filename().string()) + text));
  RELAXC_TRY(std::string temporary, outputs.add(plan.params));
  return write_params(constants, temporary, plan.params, diag);
}

}  // namespace

Status write_text(const CompileOptions& options, const OutputPlan& plan, const relax::Module& module,
                  const std::vector<relax::FileRef>& files, Outputs& outputs, Diagnostics& diag) {
  RELAXC_DO(plan.emit == Emit::kDot ? outputs.write(plan.output, dot_text(view_graph(module), module.name))
                                    : write_program(options, plan, module, files, outputs, diag));
  return write_depfile(options, plan, {plan.output}, files, outputs, diag);
}

}  // namespace relaxc::api
