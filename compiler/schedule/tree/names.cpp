// names.cpp: the names of loops, blocks and buffers in the steps of a trace.
#include "compiler/schedule/tree/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/analysis/access.h"
#include "compiler/support/quote.h"
#include "compiler/tir/visit.h"

namespace relaxc::schedule {
namespace {

bool is_bare(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

/// What can be named, in program order.
template <typename Id>
using Named = std::vector<std::pair<Id, std::string>>;

Named<uint32_t> loops_in(Stmt root) {
  Named<uint32_t> found;
  tir::for_each_stmt(root, [&](Stmt s) {
    if (const auto* loop = s.as<tir::For>()) found.emplace_back(loop->id, loop->var.name());
  });
  return found;
}

Named<uint32_t> blocks_in(Stmt root) {
  Named<uint32_t> found;
  tir::for_each_stmt(root, [&](Stmt s) {
    if (const auto* block = s.as<tir::Block>()) found.emplace_back(block->id, block->name);
  });
  return found;
}

Named<BufferRef> buffers_in(Stmt root) {
  Named<BufferRef> found;
  for_each_access(root, [&](const Access& access) {
    bool known = std::any_of(found.begin(), found.end(), [&](const auto& one) { return one.first == access.buffer; });
    if (!known) found.emplace_back(access.buffer, access.buffer->name);
  });
  return found;
}

template <typename Id>
std::string name_in(const Named<Id>& all, Id id) {
  auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == id; });
  RELAXC_CHECK(at != all.end(), "a schedule names what does not exist");
  auto before = std::count_if(all.begin(), at, [&](const auto& one) { return one.second == at->second; });
  std::string name = spelled(at->second);
  return before == 0 ? name : fmt::format("{}#{}", name, before + 1);
}

template <typename Id>
Legal<Id> id_in(const Named<Id>& all, std::string_view text, const char* kind) {
  for (const auto& [id, name] : all)
    if (name_in(all, id) == text) return id;
  std::string known;
  for (const auto& [id, name] : all) known += (known.empty() ? "" : ", ") + name_in(all, id);
  return Illegal{fmt::format(
      "there is no {} '{}' here; {}", kind, text,
      known.empty() ? fmt::format("there is no {} at all", kind) : fmt::format("the {}s are {}", kind, known))};
}

}  // namespace

std::string spelled(std::string_view name) {
  return is_bare(name) ? std::string(name) : quoted(name);
}

std::string loop_name(const Tree& tree, uint32_t id) {
  return name_in(loops_in(tree.root()), id);
}

std::string loop_names(const Tree& tree, const std::vector<uint32_t>& ids) {
  std::string names;
  for (uint32_t id : ids) names += (names.empty() ? "" : ", ") + loop_name(tree, id);
  return "[" + names + "]";
}

std::string block_name(const Tree& tree, uint32_t id) {
  return name_in(blocks_in(tree.root()), id);
}

std::string buffer_name(const Tree& tree, BufferRef buffer) {
  return name_in(buffers_in(tree.root()), buffer);
}

Legal<uint32_t> loop_named(const Tree& tree, std::string_view name) {
  return id_in(loops_in(tree.root()), name, "loop");
}

Legal<uint32_t> block_named(const Tree& tree, std::string_view name) {
  return id_in(blocks_in(tree.root()), name, "block");
}

Legal<BufferRef> buffer_named(const Tree& tree, std::string_view name) {
  return id_in(buffers_in(tree.root()), name, "buffer");
}

std::string name_of_kernel_block(const Tree& tree, uint32_t id) {
  Tree all = tree;
  all.leave_focus();
  return block_name(all, id);
}

Legal<uint32_t> kernel_block_named(const Tree& tree, std::string_view name) {
  Tree all = tree;
  all.leave_focus();
  return block_named(all, name);
}

}  // namespace relaxc::schedule
