// certificate.cpp: gathers the record.
#include "compiler/driver/certificate/certificate.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/api/observe/loop_bounds.h"
#include "compiler/codegen/llvm/hash.h"
#include "compiler/driver/certificate/certificate_page.h"
#include "compiler/driver/report/safety.h"
#include "compiler/support/hex.h"
#include "compiler/support/unicode.h"

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kSealBegin = ",\n \"seal\": \"", kSealEnd = "\"\n}\n";

template <typename Number>
Json bound(Number value) {
  return value == std::numeric_limits<Number>::max() ? Json(nullptr) : Json(value);
}

Json file_record(const std::string& name, const relax::MappedFile& file) {
  return {{"file", name}, {"bytes", file.bytes().size()}, {"sha256", sha256_text(file)}};
}

std::string constants_hash(const interface::Weights& weights) {
  return hex(codegen_llvm::sha256_of([&](const auto& use) {
    if (weights.stream)
      weights.stream([&](const std::byte* data, size_t size) { use(std::span<const std::byte>(data, size)); });
  }));
}

Json entries(const Artifact& artifact) {
  Json out = Json::array();
  const codegen_llvm::StackBounds& stack = artifact.written.stack;
  auto of = [](const std::vector<uint64_t>& list, size_t i) { return bound(i < list.size() ? list[i] : UINT64_MAX); };
  for (size_t i = 0; i < artifact.object.entries.size(); ++i) {
    const interface::Entry& entry = artifact.object.entries[i];
    Json symbols = Json::array(), pools = Json::array();
    for (const interface::Symbol& symbol : entry.symbols)
      symbols.push_back({{"name", symbol.name},
                         {"lower", symbol.lower},
                         {"upper", bound(symbol.upper)},
                         {"multiple_of", symbol.multiple_of}});
    for (const interface::Pool& pool : entry.pools) pools.push_back({{"name", pool.name}, {"bytes", pool.bytes}});
    out.push_back({{"name", entry.name},
                   {"symbols", symbols},
                   {"arena_max", bound(entry.arena_max)},
                   {"arena_align", entry.arena_align},
                   {"pools", pools},
                   {"stack_max", of(stack.generic, i)},
                   {"run_stack_max", of(stack.typed, i)},
                   {"needs_allocator", entry.needs_allocator},
                   {"kernels", entry.num_kernels}});
  }
  return out;
}

Json code_record(const CodePlace& place) {
  if (place.first_line != 0)
    return {{"file", place.file},
            {"symbol", place.symbol},
            {"first_line", place.first_line},
            {"last_line", place.last_line}};
  return {{"file", place.file},
          {"symbol", place.symbol},
          {"section", place.section},
          {"offset", place.offset},
          {"bytes", place.bytes}};
}

/// Adds the loops of the kernel as it is in the code, under what is known of its dims.
void add_loops(Json& record, const Artifact& artifact, const std::string& kernel) {
  KernelLoops found;
  arith::Facts facts;
  for (const proof::ScheduledKernel& one : artifact.observed.scheduled_kernels)
    if (one.after.name == kernel) facts = one.facts;
  const tir::PrimFunc* now = artifact.module.find_prim_func(kernel);
  if (now != nullptr) found = loop_bounds_of(*now, facts);
  Json loops = Json::array();
  for (const LoopBound& loop : found.loops)
    loops.push_back({{"name", loop.name},
                     {"depth", loop.depth},
                     {"extent", loop.extent},
                     {"at_most", bound(loop.at_most)},
                     {"total_at_most", bound(loop.total_at_most)}});
  record["loops"] = loops;
  record["stores_at_most"] = bound(found.stores_at_most);
  record["loops_of_data"] = found.has_while;
}

Json proof_record(const Proofs& proofs, const std::string& kernel) {
  for (const proof::KernelVerdict& found : *proofs.kernels)
    if (found.kernel == kernel) return {{"answer", name_of(found.answer)}, {"text", found.text}};
  return {{"answer", "not scheduled"}, {"text", ""}};
}

Json kernels(const Certified& subject, const std::map<std::string, std::vector<CodePlace>>& places) {
  Json out = Json::array();
  for (const auto& [kernel, nodes] : kernels_of(subject.artifact)) {
    Json code = Json::array(), error = Json::array();
    if (const auto known = places.find(kernel); known != places.end())
      for (const CodePlace& place : known->second) code.push_back(code_record(place));
    for (const ErrorBound& one : bounds_of(subject.artifact, kernel))
      error.push_back({{"bound", one.text}, {"test", one.test}});
    Json record = {{"name", kernel}, {"nodes", nodes}, {"code", code}, {"error", error}};
    add_loops(record, subject.artifact, kernel);
    record["proof"] = proof_record(subject.proofs, kernel);
    out.push_back(record);
  }
  return out;
}

Json memory_proofs(const Proofs& proofs) {
  Json out = Json::array();
  for (const proof::Claims& claims : *proofs.memory)
    out.push_back({{"function", claims.function},
                   {"proved", claims.proved},
                   {"refuted", claims.refuted},
                   {"undecided", claims.undecided}});
  return out;
}

Json requirements(const Certified& subject) {
  Json out = Json::array();
  for (const SafetyRequirement& one : safety_requirements(subject.artifact, subject.findings, &subject.proofs))
    out.push_back({{"id", one.id}, {"requirement", one.title}, {"answer", name_of(one.answer)}, {"facts", one.facts}});
  return out;
}

Json selftest(const interface::Object& object) {
  if (object.selftest.data.empty()) return nullptr;
  return {{"function", object.name + "_selftest"},
          {"data_bytes", object.selftest.data.size()},
          {"arena_bytes", object.selftest.arena_bytes}};
}

std::string dumped(const Json& json) {
  return visible_json(json.dump(1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string sha256_text(const relax::MappedFile& file) {
  return hex(codegen_llvm::sha256_of([&](const auto& use) { relax::for_each_piece(file, use); }));
}

std::string sha256_text(const std::string& bytes) {
  return hex(codegen_llvm::sha256_of([&](const auto& use) { use(std::as_bytes(std::span(bytes))); }));
}

std::string sealed(const std::string& json) {
  const std::string body = json.substr(0, json.rfind("\n}"));
  return fmt::format("{}{}{}{}", body, kSealBegin, sha256_text(body), kSealEnd);
}

std::string unsealed(const std::string& text) {
  const size_t tail = kSealBegin.size() + 64 + kSealEnd.size();
  if (text.size() < tail) return {};
  const std::string body = text.substr(0, text.size() - tail);
  return text == fmt::format("{}{}{}{}", body, kSealBegin, sha256_text(body), kSealEnd) ? body + "\n}" : "";
}

Result<Certificate> make_certificate(const Certified& subject, Diagnostics& diag) {
  const Artifact& artifact = subject.artifact;
  const interface::Object& object = artifact.object;
  RELAXC_TRY(const auto places, code_places(subject.options, artifact, subject.written, diag));
  RELAXC_TRY(const relax::FileRef program, relax::map_file("/proc/self/exe", nullptr, diag));
  Json inputs = Json::array(), outputs = Json::array();
  for (const relax::FileRef& file : artifact.files)
    inputs.push_back(file_record(fs::path(file->path()).filename().string(), *file));
  for (const WrittenFile& file : subject.written) outputs.push_back(file_record(file.name, *file.content));
  const Target& target = artifact.target;
  Json record = {
      {"schema", "relaxc certificate"},
      {"version", kCertificateVersion},
      {"name", object.name},
      {"compiler",
       {{"producer", object.producer}, {"sha256", sha256_text(*program)}, {"llvm", codegen_llvm::llvm_version()}}},
      {"target", {{"triple", target.triple}, {"cpu", target.cpu}, {"features", target.features}}},
      {"flags", subject.options.object_flags},
      {"hash", hex(object.hash)},
      {"interface_hash", hex(object.interface_hash)},
      {"inputs", inputs},
      {"outputs", outputs},
      {"constants", {{"bytes", object.weights.bytes}, {"sha256", constants_hash(object.weights)}}},
      {"entries", entries(artifact)},
      {"kernels", kernels(subject, places)},
      {"memory_proofs", memory_proofs(subject.proofs)},
      {"requirements", requirements(subject)},
      {"selftest", selftest(object)}};
  Certificate made;
  // The page is made of what a reader of the record gets, so that both show invalid characters alike.
  made.page = certificate_page(Json::parse(dumped(record)));
  record["page"] = {{"file", kCertificatePage}, {"sha256", sha256_text(made.page)}};
  made.json = sealed(dumped(record));
  return made;
}

}  // namespace relaxc::driver
