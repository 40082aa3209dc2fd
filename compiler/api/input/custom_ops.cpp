// custom_ops.cpp: reads declarations of custom operators from flags and JSON.
#include "compiler/api/input/custom_ops.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/support/input_file.h"

namespace relaxc::api {
namespace {

using frontend::CustomOp;
using nlohmann::json;

Status read_file(const relax::MemoryFiles& memory, const std::string& path, Diagnostics& diag,
                 std::vector<CustomOp>& ops, std::vector<relax::FileRef>& files) {
  if (relax::find_file(memory, path) == nullptr && ::access(path.c_str(), R_OK) != 0)
    return diag.error(nullptr, Kind::usage,
                      "--custom-op '{}' is neither domain::Name=rule nor a file that can be read: {}", path,
                      std::strerror(errno));
  RELAXC_TRY(relax::FileRef file, relax::open_file(memory, path, nullptr, diag));
  files.push_back(file);
  if (file->bytes().size() > kLargestSettings)
    return diag.error(nullptr, Kind::io, "cannot read {}: it has more than {} bytes, which no file of settings has",
                      path, kLargestSettings);
  const auto* text = reinterpret_cast<const char*>(file->bytes().data());
  json declared = json::parse(text, text + file->bytes().size(), nullptr, false);
  if (!declared.is_object())
    return diag.error(nullptr, Kind::usage, "--custom-op {}: expected a JSON object of operators and their rules",
                      path);
  for (const auto& [key, value] : declared.items()) {
    bool plain = value.is_string(), full = value.is_object() && value.contains("rule") && value["rule"].is_string() &&
                                           (!value.contains("function") || value["function"].is_string());
    if (!plain && !full)
      return diag.error(nullptr, Kind::usage, "--custom-op {}: '{}' needs a rule, or an object with \"rule\"", path,
                        key);
    std::string rule = plain ? value.get<std::string>() : value["rule"].get<std::string>();
    std::string function = full && value.contains("function") ? value["function"].get<std::string>() : "";
    RELAXC_TRY(CustomOp op, frontend::parse_custom_op(key, rule, std::move(function), diag));
    ops.push_back(std::move(op));
  }
  return Done{};
}

}  // namespace

Result<std::vector<CustomOp>> read_custom_ops(const CompileOptions& options, Diagnostics& diag,
                                              std::vector<relax::FileRef>& files) {
  std::vector<CustomOp> ops;
  for (const std::string& text : options.custom_ops) {
    size_t equals = text.find('=');
    if (equals == std::string::npos) {
      RELAXC_DO(read_file(options.memory, text, diag, ops, files));
      continue;
    }
    RELAXC_TRY(CustomOp op, frontend::parse_custom_op(text.substr(0, equals), text.substr(equals + 1), "", diag));
    ops.push_back(std::move(op));
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (const CustomOp& op : ops)
    if (!seen.emplace(op.domain, op.name).second)
      return diag.error(nullptr, Kind::usage, "--custom-op {}::{} is given twice",
                        op.domain.empty() ? "ai.onnx" : op.domain, op.name);
  return ops;
}

}  // namespace relaxc::api
