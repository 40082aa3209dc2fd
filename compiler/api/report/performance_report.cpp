// performance_report.cpp: prints the report's data.
//
// The page is the JSON and a script, so that both have the same content: a program can read what a user sees. Names
// come from models and may be anything; "</script>" in one must not end the page, so '<' is written as an escape.
#include "compiler/api/report/performance_report.h"

#include <map>
#include <nlohmann/json.hpp>

#include "compiler/api/report/report_page.h"
#include "compiler/support/unicode.h"

namespace relaxc::api {
namespace {

using Json = nlohmann::ordered_json;

/// `groups` are the nodes of the final graph that do the work of this one's.
Json as_json(const GraphView& graph, const std::vector<int32_t>& groups) {
  Json nodes = Json::array(), edges = Json::array();
  for (const GraphNode& node : graph.nodes)
    nodes.push_back({{"label", node.label},
                     {"kind", node.kind},
                     {"type", node.type},
                     {"sources", node.sources},
                     {"function", graph.functions.at(static_cast<size_t>(node.function))},
                     {"parent", node.parent},
                     {"region", node.region},
                     {"group", groups.at(nodes.size())}});
  for (const auto& [from, to] : graph.edges) edges.push_back({from, to});
  return {{"nodes", nodes}, {"edges", edges}};
}

Json as_json(const EntryProfile& profile, const std::map<std::string, std::string>& explanations) {
  Json kernels = Json::array(), pieces = Json::array(), pools = Json::array();
  for (const interface::Pool& pool : profile.pools) pools.push_back({{"name", pool.name}, {"bytes", pool.bytes}});
  for (const KernelCost& kernel : profile.kernels) {
    const auto explained = explanations.find(kernel.name);
    Json row = {{"name", kernel.name},
                {"calls", kernel.calls},
                {"flops", kernel.flops},
                {"integer_ops", kernel.integer_ops},
                {"bytes", kernel.bytes},
                {"weight_bytes", kernel.weight_bytes},
                {"estimated_seconds", kernel.seconds},
                {"share", kernel.share},
                {"sources", kernel.sources},
                {"schedule", explained == explanations.end() ? "" : explained->second}};
    if (profile.measured.count != 0) row["measured_seconds"] = kernel.measured_seconds;
    kernels.push_back(std::move(row));
  }
  for (const MemoryPiece& piece : profile.pieces)
    pieces.push_back({{"name", piece.name},
                      {"source", piece.source},
                      {"pool", piece.pool},
                      {"offset", piece.offset},
                      {"bytes", piece.bytes},
                      {"first", piece.first},
                      {"last", piece.last}});
  Json made = {{"function", profile.name},
               {"symbols", profile.symbols},
               {"arena_bytes", profile.arena_bytes},
               {"bound_bytes", profile.bound_bytes},
               {"ratio", profile.ratio()},
               {"pools", pools},
               {"steps", profile.steps},
               {"kernels", kernels},
               {"memory", pieces}};
  const MeasuredRuns& runs = profile.measured;
  if (runs.count != 0) made["measured"] = {{"runs", runs.count}, {"threads", runs.threads}, {"seconds", runs.seconds}};
  return made;
}

Json as_json(const PerformanceReport& report) {
  Json profiles = Json::array(), passes = Json::array();
  for (const EntryProfile& profile : report.profiles) profiles.push_back(as_json(profile, report.explanations));
  for (const auto& [name, took] : report.pass_milliseconds) passes.push_back({{"pass", name}, {"milliseconds", took}});
  return {{"model", report.model},
          {"producer", report.producer},
          {"target", report.target},
          {"weight_bytes", report.weight_bytes},
          {"before", as_json(report.before, groups_of(report.before, report.after))},
          {"after", as_json(report.after, groups_of(report.after, report.after))},
          {"profiles", profiles},
          {"passes", passes}};
}

std::string dumped(const PerformanceReport& report, int indent) {
  return visible_json(as_json(report).dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string report_json(const PerformanceReport& report) {
  return dumped(report, 1) + "\n";
}

std::string report_html(const PerformanceReport& report) {
  std::string data;
  for (char c : dumped(report, -1)) data += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return kReportPageBegin + data + kReportPageEnd;
}

}  // namespace relaxc::api
