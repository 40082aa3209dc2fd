// tune_log.cpp: records as JSON.
//
// A kernel is known by what it computes and not by its name, so that a record serves every model in which the same
// kernel occurs. A record is only ever a list of wishes: what a rule of this compiler does not offer is not taken, so
// an old record can cost speed and nothing else.
#include "compiler/driver/tools/tune_log.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compiler/codegen/llvm/hash.h"
#include "compiler/tir/print.h"

namespace relaxc::driver {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "relaxc tune log";
constexpr int kVersion = 1;

/// Text of an object's field; nothing if it is not there or no text.
const std::string* text_of(const Json& object, const char* name) {
  auto field = object.is_object() ? object.find(name) : object.end();
  return field == object.end() || !field->is_string() ? nullptr : field->get_ptr<const std::string*>();
}

double number_of(const Json& object, const char* name) {
  auto field = object.find(name);
  return field != object.end() && field->is_number() ? field->get<double>() : 0;
}

}  // namespace

std::string target_text(const Target& target) {
  return fmt::format("{} {} {}", target.triple, target.cpu, target.features);
}

std::string kernel_key(const tir::PrimFunc& kernel) {
  tir::PrimFunc nameless = kernel;
  nameless.name = "kernel";
  nameless.attrs.erase("choices");
  std::string key;
  for (uint8_t byte : codegen_llvm::hash_of({tir::to_string(nameless)})) key += fmt::format("{:02x}", byte);
  return key.substr(0, 32);
}

std::string tune_log_json(const TuneLog& log) {
  Json kernels = Json::array();
  for (const auto& [key, kernel] : log.kernels)
    kernels.push_back({{"key", key},
                       {"name", kernel.name},
                       {"choices", kernel.choices},
                       {"usual_seconds", kernel.usual_seconds},
                       {"best_seconds", kernel.best_seconds},
                       {"schedule", kernel.schedule}});
  Json all = {{"format", kFormat}, {"version", kVersion}, {"target", log.target}, {"kernels", kernels}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TuneLog> read_tune_log(const std::string& path, Diagnostics& diag) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return diag.error(nullptr, Kind::io, "cannot read the tune log '{}'", path);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Json all = Json::parse(bytes, nullptr, false);
  auto refuse = [&](const std::string& why) {
    return diag.error(nullptr, Kind::malformed_model, "'{}' is no tune log: {}; 'relaxc tune' writes one", path, why);
  };
  if (all.is_discarded()) return refuse("it is not JSON");
  const std::string* format = text_of(all, "format");
  if (format == nullptr || *format != kFormat) return refuse(fmt::format("its \"format\" is not \"{}\"", kFormat));
  if (number_of(all, "version") != kVersion) return refuse(fmt::format("its \"version\" is not {}", kVersion));
  const std::string* target = text_of(all, "target");
  auto kernels = all.find("kernels");
  if (target == nullptr || kernels == all.end() || !kernels->is_array())
    return refuse("it has no \"target\" or no list of \"kernels\"");
  TuneLog log{*target, {}};
  for (const Json& kernel : *kernels) {
    const std::string *key = text_of(kernel, "key"), *choices = text_of(kernel, "choices");
    if (key == nullptr || choices == nullptr)
      return refuse(fmt::format("kernel {} has no \"key\" or no \"choices\"", log.kernels.size() + 1));
    const std::string *name = text_of(kernel, "name"), *schedule = text_of(kernel, "schedule");
    log.kernels[*key] = {name == nullptr ? "" : *name, *choices, schedule == nullptr ? "" : *schedule,
                         number_of(kernel, "usual_seconds"), number_of(kernel, "best_seconds")};
  }
  return log;
}

void hand_out(const TuneLog& log, relax::Module& module) {
  for (tir::PrimFunc* kernel : module.prim_funcs())
    if (auto known = log.kernels.find(kernel_key(*kernel)); known != log.kernels.end())
      kernel->attrs["choices"] = known->second.choices;
}

}  // namespace relaxc::driver
