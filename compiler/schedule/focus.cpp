// focus.cpp: the nests of a kernel that primitives see, and what stands around them.
//
// A kernel is a sequence of nests, and a rule works on a few of them. What it does to a nest must not depend on how
// many others there are, nor may it touch them; so primitives get the nests in focus as their whole tree, which takes
// its place in the kernel when the focus moves on. What is outside is asked two questions only: does anybody else read
// this buffer, and what is it a view of?
#include <fmt/format.h>

#include <algorithm>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"

namespace relaxc::schedule {
namespace {

/// The outermost statement that is nothing but a nest around the block.
Stmt nest_around(Stmt root, uint32_t block) {
  Stmt found;
  tir::for_each_stmt(root, [&](Stmt s) {
    const tir::Block* inner = found ? nullptr : analysis::as_nest(s).block;
    if (inner != nullptr && inner->id == block) found = s;
  });
  return found;
}

/// Where `nests` stand side by side in `root`; null: nowhere.
const tir::Seq* sequence_of(Stmt root, const std::vector<Stmt>& nests) {
  const tir::Seq* found = nullptr;
  tir::for_each_stmt(root, [&](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    if (seq != nullptr &&
        std::search(seq->body.begin(), seq->body.end(), nests.begin(), nests.end()) != seq->body.end())
      found = seq;
  });
  return found;
}

}  // namespace

Schedule::Schedule(Context& context, Stmt root, arith::Facts facts, const std::vector<BufferRef>& constants,
                   bool may_allocate)
    : context_(context), build_(context), facts_(std::move(facts)), may_allocate_(may_allocate) {
  root_ = root;
  for (BufferRef constant : constants) operands_.push_back({constant, constant, {}});
}

Schedule& Schedule::operator=(const Schedule& other) {
  RELAXC_CHECK(&context_ == &other.context_, "a checkpoint of another kernel");
  ScheduleState::operator=(other);
  return *this;
}

void Schedule::focus(const std::vector<uint32_t>& blocks) {
  put_back();
  std::vector<Stmt> nests;
  std::string names;
  for (uint32_t id : blocks) {
    nests.push_back(nest_around(root_, id));
    names += (names.empty() ? "" : ", ") + block_name(id);
    require(static_cast<bool>(nests.back()), [&] {
      return fmt::format("block '{}' is not in a nest of its own: loops around nothing else", block_name(id));
    });
  }
  require(!nests.empty(), "no block is named");
  const tir::Seq* around = nests.size() == 1 ? nullptr : sequence_of(root_, nests);
  require(nests.size() == 1 || around != nullptr, "these nests do not stand one behind the other in this order");
  note(fmt::format("nest [{}]", names));
  whole_ = root_;
  focused_ = nests;
  root_ = build_.seq(std::move(nests));
}

void Schedule::focus_all() {
  if (focused_.empty()) return;
  put_back();
  note("whole");
}

void Schedule::put_back() {
  if (focused_.empty()) return;
  Stmt now = root_;
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    if (focused_.size() == 1) return s == focused_[0] ? now : s;
    const auto* seq = s.as<tir::Seq>();
    if (seq == nullptr) return s;
    auto at = std::search(seq->body.begin(), seq->body.end(), focused_.begin(), focused_.end());
    if (at == seq->body.end()) return s;
    std::vector<Stmt> parts(seq->body.begin(), at);
    parts.push_back(now);
    parts.insert(parts.end(), at + static_cast<std::ptrdiff_t>(focused_.size()), seq->body.end());
    return build_.seq(std::move(parts));
  };
  root_ = tir::rewrite(context_, whole_, rewriter);
  whole_ = {};
  focused_.clear();
}

BufferRef Schedule::memory_of(BufferRef buffer) const {
  std::map<BufferRef, BufferRef> bases;  // looked up only
  for (Stmt tree : {whole_, root_})
    if (tree)
      tir::for_each_stmt(tree, [&](Stmt s) {
        if (const auto* view = s.as<tir::View>()) bases[view->buffer] = view->base;
      });
  for (auto it = bases.find(buffer); it != bases.end() && it->second != nullptr; it = bases.find(buffer))
    buffer = it->second;
  return buffer;
}

bool Schedule::is_accessed_outside(BufferRef memory) const {
  if (focused_.empty()) return false;
  bool found = false;
  auto look = [&](BufferRef buffer) { found |= memory_of(buffer) == memory; };
  std::vector<Stmt> pending{whole_};
  while (!pending.empty() && !found) {
    Stmt s = pending.back();
    pending.pop_back();
    if (std::find(focused_.begin(), focused_.end(), s) != focused_.end()) continue;
    if (const auto* store = s.as<tir::Store>()) look(store->buffer);
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) look(load->buffer);
      });
    if (const auto* invoke = s.as<tir::Invoke>())
      for (const tir::Argument& arg : invoke->args)
        if (const auto* passed = std::get_if<BufferRef>(&arg)) look(*passed);
    for (Stmt inner : tir::children(s)) pending.push_back(inner);
  }
  return found;
}

bool Schedule::is_unseen(BufferRef buffer) const {
  BufferRef memory = memory_of(buffer);
  bool own = false;
  for (Stmt tree : {whole_, root_})
    if (tree)
      tir::for_each_stmt(tree, [&](Stmt s) {
        if (const auto* alloc = s.as<tir::Alloc>()) own |= alloc->buffer == memory;
      });
  return own && !is_accessed_outside(memory);
}

std::vector<BufferRef> Schedule::own_constants() const {
  std::vector<BufferRef> own;
  for (const Operand& operand : operands_)
    if (!is_accessed_outside(operand.buffer)) own.push_back(operand.buffer);
  return own;
}

void Schedule::require_packed() const {
  for (const Operand& operand : operands_)
    require(operand.buffer == operand.param,
            [&] { return fmt::format("{} is to be packed, and no step does it", operand.buffer->name); });
}

}  // namespace relaxc::schedule
