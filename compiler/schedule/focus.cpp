// focus.cpp: the nests of a kernel that primitives see, and what stands around them.
//
// A kernel is a sequence of nests, and a rule works on a few of them. What it does to a nest must not depend on how
// many others there are, nor may it touch them; so primitives get the nests in focus as their whole tree, which takes
// its place in the kernel when the focus moves on. What is outside is asked two questions only: does anybody else read
// this buffer, and what is it a view of? A section of the kernel does the same one level further out, for kernels of so
// many nests that to look at all of them for each would cost too much.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"

namespace relaxc::schedule {
namespace {

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

void Schedule::section(size_t begin, size_t end) {
  leave_section();
  const std::vector<Stmt> all = statements_of(root_);
  require(begin < end && end <= all.size(),
          [&] { return fmt::format("the kernel is a sequence of {} statements, from 0", all.size()); });
  note(fmt::format("section {} {}", begin, end));
  auto at = [&](size_t place) { return all.begin() + static_cast<std::ptrdiff_t>(place); };
  section_ = {root_, {at(begin), at(end)}};
  root_ = build_.seq(section_.taken);
}

void Schedule::leave_section() {
  put_back(focus_);
  put_back(section_);
}

void Schedule::focus(const std::vector<uint32_t>& blocks) {
  put_back(focus_);
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
  focus_ = {root_, nests};
  root_ = build_.seq(std::move(nests));
}

void Schedule::focus_all() {
  if (!focus_.whole) return;
  put_back(focus_);
  note("whole");
}

void Schedule::put_back(Cutout& cutout) {
  if (!cutout.whole) return;
  const std::vector<Stmt>& taken = cutout.taken;
  Stmt now = root_;
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    if (taken.size() == 1) return s == taken[0] ? now : s;
    const auto* seq = s.as<tir::Seq>();
    if (seq == nullptr) return s;
    auto at = std::search(seq->body.begin(), seq->body.end(), taken.begin(), taken.end());
    if (at == seq->body.end()) return s;
    std::vector<Stmt> parts(seq->body.begin(), at);
    parts.push_back(now);
    parts.insert(parts.end(), at + static_cast<std::ptrdiff_t>(taken.size()), seq->body.end());
    return build_.seq(std::move(parts));
  };
  root_ = tir::rewrite(context_, cutout.whole, rewriter);
  cutout = {};
}

/// What primitives see, and what that was taken out of.
std::vector<Stmt> Schedule::trees() const {
  std::vector<Stmt> all{root_};
  for (const Cutout* cutout : {&focus_, &section_})
    if (cutout->whole) all.push_back(cutout->whole);
  return all;
}

BufferRef Schedule::memory_of(BufferRef buffer) const {
  std::map<BufferRef, BufferRef> bases;  // looked up only
  for (Stmt tree : trees())
    tir::for_each_stmt(tree, [&](Stmt s) {
      if (const auto* view = s.as<tir::View>()) bases[view->buffer] = view->base;
    });
  for (auto it = bases.find(buffer); it != bases.end() && it->second != nullptr; it = bases.find(buffer))
    buffer = it->second;
  return buffer;
}

bool Schedule::is_accessed_outside(BufferRef memory) const {
  bool found = false;
  auto look = [&](BufferRef buffer) { found |= memory_of(buffer) == memory; };
  std::vector<Stmt> pending, taken;
  for (const Cutout* cutout : {&focus_, &section_}) {
    if (cutout->whole) pending.push_back(cutout->whole);
    taken.insert(taken.end(), cutout->taken.begin(), cutout->taken.end());
  }
  while (!pending.empty() && !found) {
    Stmt s = pending.back();
    pending.pop_back();
    if (std::find(taken.begin(), taken.end(), s) != taken.end()) continue;
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
  for (Stmt tree : trees())
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
