// wasm_versions.cpp: the further binaries of a module of JavaScript.
//
// An engine refuses a module with an instruction that it does not know, wherever that is. So a version for newer
// engines is a file of its own, which is only downloaded by those that can run it; the module tests the engine before
// it asks for a file. Rejected: one file with both versions, as for CPUs of x86-64 (--mcpu=A,B).
#include "compiler/api/wasm_versions.h"

#include <filesystem>

#include "targets/isa_features.h"

namespace relaxc::api {

std::vector<std::string> listed_targets(const std::string& text) {
  std::vector<std::string> names;
  if (text.ends_with(".json")) return {text};
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

CompileOptions options_of_version(const CompileOptions& options, const OutputPlan& plan, const std::string& target) {
  CompileOptions one = options;
  one.target = target;
  one.emit = Emit::kSharedLibrary;
  one.output = std::filesystem::path(plan.output).replace_extension("." + target + ".wasm").string();
  one.name = plan.name;
  one.header = one.depfile = one.selftest = false;
  one.report.clear(), one.manifest.clear(), one.rust.clear(), one.write_schedules.clear();
  one.remark = [](const std::string&) {};
  one.passes = PassOptions();
  one.passes.disabled = options.passes.disabled;
  one.passes.bisect_limit = options.passes.bisect_limit;
  return one;
}

Status check_versions(const OutputPlan& plan, const std::string& targets, const Target& first, const Target& other,
                      Diagnostics& diag) {
  if (plan.script.empty())
    return diag.error(nullptr, Kind::usage,
                      "--target={}: only a module of JavaScript chooses between targets; write one with -o model.mjs",
                      targets);
  const bool wasm = first.triple.starts_with("wasm") && other.triple.starts_with("wasm");
  if (!wasm || has_shared_wasm_memory(first) != has_shared_wasm_memory(other))
    return diag.error(nullptr, Kind::usage,
                      "--target={}: a module of JavaScript chooses between targets of WebAssembly, all with threads or "
                      "all without, such as wasm32-simd,wasm32-relaxed",
                      targets);
  return Done{};
}

}  // namespace relaxc::api
