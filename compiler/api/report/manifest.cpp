// manifest.cpp: prints the manifest as JSON.
//
// Sizes and symbols are read from the file that was written, not from the plan for it. The manifest has no folder and
// no time, so that the same input gives the same bytes anywhere.
#include "compiler/api/report/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/support/hex.h"
#include "compiler/support/unicode.h"

namespace relaxc::api {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a bound, or null if there is none.
Json bound(uint64_t value) {
  return value == UINT64_MAX ? Json(nullptr) : Json(value);
}

Json tensors(const std::vector<interface::Tensor>& list) {
  Json out = Json::array();
  for (const interface::Tensor& tensor : list) {
    Json dims = Json::array();
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      if (tensor.dims[i] >= 0)
        dims.push_back(tensor.dims[i]);
      else
        dims.push_back(i < tensor.dim_text.size() ? tensor.dim_text[i] : "?");
    }
    out.push_back({{"name", tensor.name}, {"dtype", to_string(tensor.dtype)}, {"dims", dims}});
    if (tensor.quant)
      out.back()["quantization"] = {
          {"axis", tensor.quant->axis}, {"scale", tensor.quant->scale}, {"zero_point", tensor.quant->zero_point}};
  }
  return out;
}

Json symbols(const std::vector<interface::Symbol>& list) {
  Json out = Json::array();
  for (const interface::Symbol& symbol : list)
    out.push_back({{"name", symbol.name},
                   {"lower", symbol.lower},
                   {"upper", symbol.upper == INT64_MAX ? Json(nullptr) : Json(symbol.upper)},
                   {"multiple_of", symbol.multiple_of}});
  return out;
}

Json profiles(const std::vector<EntryProfile>& list) {
  Json out = Json::array();
  for (const EntryProfile& profile : list) {
    Json nodes = Json::array();
    for (const KernelCost& kernel : profile.kernels)
      nodes.push_back({{"name", kernel.name},
                       {"calls", kernel.calls},
                       {"flops", kernel.flops},
                       {"integer_ops", kernel.integer_ops},
                       {"bytes", kernel.bytes},
                       {"weight_bytes", kernel.weight_bytes}});
    out.push_back({{"symbols", profile.symbols}, {"arena_bytes", profile.arena_bytes}, {"nodes", nodes}});
  }
  return out;
}

Json pools(const std::vector<interface::Pool>& pools) {
  Json out = Json::array();
  for (const interface::Pool& pool : pools) out.push_back({{"name", pool.name}, {"bytes", pool.bytes}});
  return out;
}

Json functions(const Manifest& manifest, const interface::Object& object) {
  Json out = Json::array();
  for (size_t i = 0; i < object.entries.size(); ++i) {
    const interface::Entry& entry = object.entries[i];
    out.push_back({{"name", entry.name},
                   {"inputs", tensors(entry.inputs)},
                   {"outputs", tensors(entry.outputs)},
                   {"symbols", symbols(entry.symbols)},
                   {"arena_max", bound(entry.arena_max)},
                   {"arena_align", entry.arena_align},
                   {"pools", pools(entry.pools)},
                   {"stack_max", bound(i < manifest.stack_max.size() ? manifest.stack_max[i] : UINT64_MAX)},
                   {"run_stack_max", bound(i < manifest.run_stack_max.size() ? manifest.run_stack_max[i] : UINT64_MAX)},
                   {"needs_allocator", entry.needs_allocator},
                   {"nodes", entry.nodes},
                   {"profiles", profiles(manifest.profiles.at(i))}});
  }
  return out;
}

Json contents(const Manifest& manifest) {
  uint64_t code = 0, constants = 0, relocated = 0;
  Json sections = Json::array(), globals = Json::array();
  for (const codegen_llvm::ObjectSection& section : manifest.contents.sections) {
    (section.code ? code : section.writable ? relocated : constants) += section.bytes;
    sections.push_back({{"name", section.name}, {"bytes", section.bytes}});
  }
  for (const codegen_llvm::ObjectSymbol& symbol : manifest.contents.globals)
    globals.push_back({{"name", symbol.name}, {"bytes", symbol.bytes}});
  return {{"file", manifest.output},      {"bytes", manifest.output_bytes},
          {"code_bytes", code},           {"constant_bytes", constants},
          {"relocated_bytes", relocated}, {"sections", sections},
          {"globals", globals},           {"undefined", manifest.contents.undefined}};
}

}  // namespace

std::string manifest_json(const Manifest& manifest, const interface::Object& object, const Target& target) {
  Json weights = {{"bytes", object.weights.bytes},
                  {"file", manifest.weights_file.empty() ? Json(nullptr) : Json(manifest.weights_file)},
                  {"file_bytes", interface::weights_file_bytes(object.weights)}};
  Json json = {{"name", object.name},
               {"producer", object.producer},
               {"target", {{"triple", target.triple}, {"cpu", target.cpu}, {"features", target.features}}},
               {"hash", hex(object.hash)},
               {"interface_hash", hex(object.interface_hash)},
               {"flags", manifest.flags},
               {"object", contents(manifest)},
               {"weights", weights},
               {"functions", functions(manifest, object)}};
  return visible_json(json.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace relaxc::api
