// contracts.cpp: see contracts.h.
#include "compiler/codegen/c/contracts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {
namespace {

using tir::BufferRef;

/// Returns the number of elements of a buffer; nothing if it is not fixed.
std::optional<int64_t> elements_of(BufferRef buffer) {
  int64_t count = 1;
  for (const arith::Expr dim : buffer->shape)
    if (dim.constant() == nullptr || __builtin_mul_overflow(count, *dim.constant(), &count)) return std::nullopt;
  return count;
}

/// The last index as C text; an empty buffer has the empty range 0 .. -1.
int64_t last_of(BufferRef buffer) {
  return *elements_of(buffer) - 1;
}

std::string range_of(BufferRef buffer, Names& names) {
  return fmt::format("{} + (0 .. {})", names.of(buffer), last_of(buffer));
}

/// What a piece of code does to memory that is declared outside of it.
struct Effects {
  std::vector<BufferRef> stored;  ///< in the order of the code, each once
  bool known = true;              ///< whether that is all: it makes no views and calls nothing
};

Effects effects_of(tir::Stmt code) {
  Effects found;
  std::set<BufferRef> own;
  tir::for_each_stmt(code, [&](tir::Stmt s) {
    if (const auto* alloc = s.as<tir::Alloc>()) own.insert(alloc->buffer);
    if (s.as<tir::View>() != nullptr || s.as<tir::Invoke>() != nullptr) found.known = false;
    const auto* store = s.as<tir::Store>();
    if (store == nullptr || own.count(store->buffer) != 0) return;
    found.known = found.known && elements_of(store->buffer) && store->buffer->record == nullptr;
    if (std::find(found.stored.begin(), found.stored.end(), store->buffer) == found.stored.end())
      found.stored.push_back(store->buffer);
  });
  return found;
}

/// The statuses that the function returns besides 0.
std::set<int32_t> statuses_of(const tir::PrimFunc& function) {
  std::set<int32_t> codes;
  if (function.checks.overflow_code != 0) codes.insert(function.checks.overflow_code);
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    if (const auto* guard = s.as<tir::Guard>()) codes.insert(guard->code);
  });
  return codes;
}

/// Returns the clauses as one comment.
std::vector<std::string> comment(const std::vector<std::string>& clauses) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < clauses.size(); ++i)
    lines.push_back((i == 0 ? "/*@ " : "  @ ") + clauses[i] + (i + 1 == clauses.size() ? " */" : ""));
  return lines;
}

/// The clauses on the buffers that are parameters.
void add_memory(const tir::PrimFunc& function, const Effects& effects, Names& names,
                std::vector<std::string>& clauses) {
  std::vector<BufferRef> buffers;
  for (const tir::Param& param : function.params)
    if (param.buffer != nullptr) buffers.push_back(param.buffer);
  auto is_stored = [&](BufferRef buffer) {
    return std::find(effects.stored.begin(), effects.stored.end(), buffer) != effects.stored.end();
  };
  for (const BufferRef buffer : buffers)
    clauses.push_back(
        fmt::format("requires \\valid{}({});", is_stored(buffer) ? "" : "_read", range_of(buffer, names)));
  if (!function.noalias || function.memory.copies || !function.memory.in_place.empty()) return;
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = 0; j < buffers.size(); ++j)
      if (is_stored(buffers[i]) && (!is_stored(buffers[j]) || i < j))
        clauses.push_back(
            fmt::format("requires \\separated({}, {});", range_of(buffers[i], names), range_of(buffers[j], names)));
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

std::vector<std::string> ranges_of(const std::vector<BufferRef>& stored, Names& names) {
  std::vector<std::string> ranges;
  for (const BufferRef buffer : stored) ranges.push_back(fmt::format("{}[0 .. {}]", names.of(buffer), last_of(buffer)));
  return ranges;
}

}  // namespace

std::vector<std::string> function_contract(const tir::PrimFunc& function, Names& names, bool fails) {
  for (const tir::Param& param : function.params)
    if (param.buffer != nullptr && (!elements_of(param.buffer) || param.buffer->record != nullptr)) return {};
  const Effects effects = effects_of(function.body);
  if (!effects.known) return {};  // views write to parameters that no store names
  std::vector<std::string> clauses;
  add_memory(function, effects, names, clauses);
  if (fails) clauses.emplace_back("requires error == \\null || \\valid(error);");
  std::vector<std::string> assigned = ranges_of(effects.stored, names);
  if (fails) assigned.emplace_back("*error");
  clauses.push_back(
      fmt::format("assigns {};", assigned.empty() ? "\\nothing" : fmt::format("{}", fmt::join(assigned, ", "))));
  if (fails) {
    std::string results = "\\result == 0";
    for (const int32_t code : statuses_of(function)) results += fmt::format(" || \\result == {}", code);
    clauses.push_back("ensures " + results + ";");
  }
  return comment(clauses);
}

std::vector<std::string> loop_contract(const tir::For& loop, const std::string& counter, const std::string& begin,
                                       const std::string& end, Names& names) {
  const Effects effects = effects_of(loop.body);
  if (!effects.known || loop.min.constant() == nullptr || loop.extent.constant() == nullptr) return {};
  std::vector<std::string> assigned{counter};
  for (std::string& range : ranges_of(effects.stored, names)) assigned.push_back(std::move(range));
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
