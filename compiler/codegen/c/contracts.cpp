// contracts.cpp: see contracts.h.
#include "compiler/codegen/c/contracts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/codegen/c/effects.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {
namespace {

using tir::BufferRef;

/// The last index as C text; an empty buffer has the empty range 0 .. -1.
int64_t last_of(BufferRef buffer) {
  return *elements_of(buffer) - 1;
}

std::string elements_range(BufferRef buffer, Names& names) {
  return fmt::format("{}[0 .. {}]", names.of(buffer), last_of(buffer));
}

std::string range_of(BufferRef buffer, Names& names) {
  return fmt::format("{} + (0 .. {})", names.of(buffer), last_of(buffer));
}

/// The clauses on the parameters: bounds of scalars, and which memory buffers have.
void add_parameters(const tir::PrimFunc& function, const std::vector<bool>& stores, bool apart, Names& names,
                    std::vector<std::string>& clauses) {
  std::vector<std::pair<BufferRef, bool>> buffers;  // and whether each is stored into
  size_t scalars = 0;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const tir::Param& param = function.params[i];
    if (param.buffer != nullptr) {
      buffers.emplace_back(param.buffer, stores[i]);
      continue;
    }
    const size_t k = scalars++;
    if (k >= function.checks.ranges.size() || !param.var.dtype().is_index()) continue;
    const arith::Range range = function.checks.ranges[k];
    if (range.has_lower() && range.has_upper())
      clauses.push_back(fmt::format("requires {} <= {} <= {};", range.lower, names.of(param.var), range.upper));
  }
  for (const auto& [buffer, stored] : buffers)
    clauses.push_back(fmt::format("requires \\valid{}({});", stored ? "" : "_read", range_of(buffer, names)));
  const bool kernel_apart = function.noalias && !function.memory.copies && function.memory.in_place.empty() &&
                            function.memory.overlapping.empty();
  if (!apart && !kernel_apart) return;
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = 0; j < buffers.size(); ++j)
      if (buffers[i].second && (!buffers[j].second || i < j))
        clauses.push_back(fmt::format("requires \\separated({}, {});", range_of(buffers[i].first, names),
                                      range_of(buffers[j].first, names)));
}

/// Eva joins what iterations leave, and then no longer sees that a loop has initialized a whole array. Loops without
/// branches that together run at most this often are therefore analyzed iteration by iteration.
constexpr int64_t kMostUnrolled = 64;

/// Returns how often the innermost code of a loop runs in one execution of it; nothing if that is not fixed or if it
/// has branches, of which iterations that are kept apart would multiply the states.
std::optional<int64_t> straight_iterations(const tir::For& loop) {
  if (loop.extent.constant() == nullptr) return std::nullopt;
  int64_t count = *loop.extent.constant(), inner_count = 1;
  bool straight = count <= kMostUnrolled;
  tir::for_each_stmt(loop.body, [&](tir::Stmt s) {
    const auto* block = s.as<tir::Block>();
    straight = straight && s.as<tir::If>() == nullptr && s.as<tir::While>() == nullptr &&
               s.as<tir::Guard>() == nullptr && (block == nullptr || (!block->predicate && !block->init));
    const auto* inner = s.as<tir::For>();
    if (inner == nullptr) return;
    const int64_t* extent = inner->extent.constant();
    straight = straight && extent != nullptr && *extent <= kMostUnrolled && inner_count <= kMostUnrolled;
    if (straight) inner_count *= std::max<int64_t>(*extent, 1);
  });
  if (!straight) return std::nullopt;
  return count * inner_count;
}

}  // namespace

std::vector<std::string> comment(const std::vector<std::string>& clauses) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < clauses.size(); ++i)
    lines.push_back((i == 0 ? "/*@ " : "  @ ") + clauses[i] + (i + 1 == clauses.size() ? " */" : ""));
  return lines;
}

std::string assigns_clause(const std::vector<std::string>& assigned) {
  return fmt::format("assigns {};", assigned.empty() ? "\\nothing" : fmt::format("{}", fmt::join(assigned, ", ")));
}

std::string ensures_clause(const std::set<int32_t>& statuses) {
  std::string results = "\\result == 0";
  for (const int32_t code : statuses)
    if (code != 0) results += fmt::format(" || \\result == {}", code);
  return "ensures " + results + ";";
}

std::vector<std::string> function_contract(const tir::PrimFunc& function, const Convention& own, Names& names,
                                           bool apart) {
  if (!own.stores) return {};  // it writes to memory that no parameter is
  std::vector<std::string> clauses, assigned;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const BufferRef buffer = function.params[i].buffer;
    if (buffer == nullptr) continue;
    if (!elements_of(buffer) || buffer->record != nullptr) return {};
    if ((*own.stores)[i]) assigned.push_back(elements_range(buffer, names));
  }
  add_parameters(function, *own.stores, apart, names, clauses);
  if (own.fails) clauses.emplace_back("requires error == \\null || \\valid(error);");
  if (own.fails) assigned.emplace_back("*error");
  clauses.push_back(assigns_clause(assigned));
  if (own.fails && own.statuses) clauses.push_back(ensures_clause(*own.statuses));
  return comment(clauses);
}

std::vector<std::string> loop_contract(const tir::For& loop, const std::string& counter, const std::string& begin,
                                       const std::string& end, const Conventions& callees, Names& names) {
  const Effects effects = effects_of(loop.body, callees);
  const bool fixed = std::all_of(effects.stored.begin(), effects.stored.end(),
                                 [](BufferRef buffer) { return elements_of(buffer).has_value(); });
  if (!effects.known || !effects.addressed.empty() || !fixed || loop.min.constant() == nullptr ||
      loop.extent.constant() == nullptr)
    return {};
  std::vector<std::string> assigned{counter};
  for (const BufferRef buffer : effects.stored) assigned.push_back(elements_range(buffer, names));
  // A loop without iterations leaves its counter at the start.
  const std::string limit = *loop.extent.constant() > 0 ? end : begin;
  std::vector<std::string> clauses;
  const std::optional<int64_t> iterations = straight_iterations(loop);
  if (iterations && *iterations <= kMostUnrolled)
    clauses.push_back(fmt::format("loop unroll {};", *loop.extent.constant()));
  clauses.push_back(fmt::format("loop invariant {0} <= {1} <= {2};", begin, counter, limit));
  clauses.push_back(fmt::format("loop assigns {};", fmt::join(assigned, ", ")));
  clauses.push_back(fmt::format("loop variant {} - {};", limit, counter));
  return comment(clauses);
}

}  // namespace relaxc::codegen_c
