// tree.cpp: state that is looked up and edited by id; what stands around the nests in focus.
//
// A kernel is a sequence of nests, and a strategy works on a few of them. What it does to a nest must not depend on how
// many others there are, nor may it touch them; so primitives get the nests in focus as their whole tree, which takes
// its place in the kernel when the focus moves on. What is outside is asked two questions only: does anybody else read
// this buffer, and what is it a view of? A section of the kernel does the same one level further out, for kernels of so
// many nests that to look at all of them for each would cost too much.
#include "compiler/schedule/tree/tree.h"

#include <algorithm>

namespace relaxc::schedule {
namespace {

template <typename T>
const T& find(Stmt root, uint32_t id, const char* fault) {
  const T* found = nullptr;
  tir::for_each_stmt(root, [&](Stmt s) {
    const auto* node = s.as<T>();
    if (node != nullptr && node->id == id) found = node;
  });
  RELAXC_CHECK(found != nullptr, fault);
  return *found;
}

}  // namespace

Tree::Tree(Context& context, Stmt root, arith::Facts facts, const std::vector<BufferRef>& constants, bool may_allocate)
    : context_(&context),
      facts_(std::make_shared<const arith::Facts>(std::move(facts))),
      may_allocate_(may_allocate),
      root_(root) {
  for (BufferRef constant : constants) operands_.push_back({constant, constant, {}});
}

const tir::For& Tree::loop(uint32_t id) const {
  return find<tir::For>(root_, id, "a schedule names a loop that does not exist");
}

const tir::Block& Tree::block(uint32_t id) const {
  return find<tir::Block>(root_, id, "a schedule names a block that does not exist");
}

void Tree::take_section(std::vector<Stmt> statements) {
  section_ = {root_, statements};
  root_ = tir::Builder(context()).seq(std::move(statements));
}

void Tree::take_focus(std::vector<Stmt> nests) {
  focus_ = {root_, nests};
  root_ = tir::Builder(context()).seq(std::move(nests));
}

void Tree::leave_section() {
  put_back(focus_);
  put_back(section_);
}

void Tree::put_back(Cutout& cutout) {
  if (!cutout.whole) return;
  const std::vector<Stmt>& taken = cutout.taken;
  const Stmt now = root_;
  root_ = cutout.whole;
  edit_statements([&](Stmt s) {
    if (taken.size() == 1) return s == taken[0] ? now : s;
    const auto* seq = s.as<tir::Seq>();
    if (seq == nullptr) return s;
    auto at = std::search(seq->body.begin(), seq->body.end(), taken.begin(), taken.end());
    if (at == seq->body.end()) return s;
    std::vector<Stmt> parts(seq->body.begin(), at);
    parts.push_back(now);
    parts.insert(parts.end(), at + static_cast<std::ptrdiff_t>(taken.size()), seq->body.end());
    return tir::Builder(context()).seq(std::move(parts));
  });
  cutout = {};
}

/// What primitives see, and what that was taken out of.
std::vector<Stmt> Tree::trees() const {
  std::vector<Stmt> all{root_};
  for (const Cutout* cutout : {&focus_, &section_})
    if (cutout->whole) all.push_back(cutout->whole);
  return all;
}

BufferRef Tree::memory_of(BufferRef buffer) const {
  std::map<BufferRef, BufferRef> bases;  // looked up only
  for (Stmt tree : trees())
    tir::for_each_stmt(tree, [&](Stmt s) {
      if (const auto* view = s.as<tir::View>()) bases[view->buffer] = view->base;
    });
  for (auto it = bases.find(buffer); it != bases.end() && it->second != nullptr; it = bases.find(buffer))
    buffer = it->second;
  return buffer;
}

bool Tree::is_used_elsewhere(BufferRef buffer) const {
  const BufferRef memory = memory_of(buffer);
  bool found = false;
  auto look = [&](BufferRef other) { found |= memory_of(other) == memory; };
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

bool Tree::is_unseen(BufferRef buffer) const {
  BufferRef memory = memory_of(buffer);
  bool own = false;
  for (Stmt tree : trees())
    tir::for_each_stmt(tree, [&](Stmt s) {
      if (const auto* alloc = s.as<tir::Alloc>()) own |= alloc->buffer == memory;
    });
  return own && !is_used_elsewhere(memory);
}

std::vector<BufferRef> Tree::own_constants() const {
  std::vector<BufferRef> own;
  for (const Operand& operand : operands_)
    if (!is_used_elsewhere(operand.buffer)) own.push_back(operand.buffer);
  return own;
}

}  // namespace relaxc::schedule
