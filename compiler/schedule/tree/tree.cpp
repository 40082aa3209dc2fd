// tree.cpp: the state of a schedule, which is looked up and edited by ids, and what surrounds the nests in focus.
//
// A kernel is a sequence of nests, and a strategy works on a few of them. What it does must not depend on how many
// others there are, nor may it touch them; so primitives see the nests in focus as the whole tree, which is put back
// into the kernel when the focus moves on. Only two questions are asked about what is outside: does anything else read
// this buffer, and what is it a view of? A section restricts the kernel in the same way, for kernels of so many nests
// that looking at all of them for each would cost too much.
#include "compiler/schedule/tree/tree.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

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
      root_(root),
      nest_facts_(std::make_shared<NestFacts>()) {
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
  restore_cut_out(focus_);
  restore_cut_out(section_);
}

void Tree::restore_cut_out(CutOutStatements& cutout) {
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

/// What each nest declares and uses. Nests are immutable, and every question about a kernel looks at all of them, so
/// the answers are cached.
class Tree::NestFacts {
 public:
  struct Declared {
    std::vector<BufferRef> allocated;
    std::vector<std::pair<BufferRef, BufferRef>> views;  ///< with their bases

    void add(Stmt s) {
      if (const auto* alloc = s.as<tir::Alloc>()) allocated.push_back(alloc->buffer);
      if (const auto* view = s.as<tir::View>()) views.emplace_back(view->buffer, view->base);
    }
  };
  struct Used {
    std::vector<BufferRef> buffers;  ///< without duplicates

    void add(Stmt s) {
      if (const auto* store = s.as<tir::Store>()) add(store->buffer);
      for (Expr e : tir::expressions(s))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* load = node.as<arith::Load>()) add(load->buffer);
        });
      if (const auto* invoke = s.as<tir::Invoke>())
        for (const tir::Argument& arg : invoke->args)
          if (const auto* passed = std::get_if<BufferRef>(&arg)) add(*passed);
    }

   private:
    void add(BufferRef buffer) {
      if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end()) buffers.push_back(buffer);
    }
  };

  template <typename T>
  const T& of(Stmt nest) {
    const auto [at, made] = kept<T>().try_emplace(nest.node());
    if (made) tir::for_each_stmt(nest, [&, &all = at->second](Stmt s) { all.add(s); });
    return at->second;
  }

 private:
  template <typename T>
  using Kept = std::unordered_map<const tir::StmtNode*, T>;  // never iterated
  template <typename T>
  Kept<T>& kept() {
    return std::get<Kept<T>>(all_);
  }
  std::tuple<Kept<Declared>, Kept<Used>> all_;
};

namespace {

bool is_one_of(Stmt s, const std::vector<Stmt>& all) {
  return std::find(all.begin(), all.end(), s) != all.end();
}

/// The body of a statement that contains exactly one other; null for other statements.
Stmt body_of(Stmt s) {
  if (const auto* loop = s.as<tir::For>()) return loop->body;
  if (const auto* alloc = s.as<tir::Alloc>()) return alloc->body;
  if (const auto* view = s.as<tir::View>()) return view->body;
  if (const auto* let = s.as<tir::Let>()) return let->body;
  const auto* block = s.as<tir::Block>();
  return block != nullptr && !block->init ? block->body : Stmt();
}

/// Whether `s` contains a sequence of statements or one of `taken`; otherwise it is a nest.
bool holds_statements(Stmt s, const std::vector<Stmt>& taken) {
  for (; s; s = body_of(s))
    if (s.as<tir::Seq>() != nullptr || is_one_of(s, taken)) return true;
  return false;
}

}  // namespace

/// Calls `f` for all nests of a tree, except for those that were taken out, and for what surrounds them.
template <typename T, typename F>
void Tree::for_each_nest(Stmt tree, const std::vector<Stmt>& taken, F f) const {
  std::vector<Stmt> pending{tree};
  while (!pending.empty()) {
    const Stmt s = pending.back();
    pending.pop_back();
    if (!s || is_one_of(s, taken)) continue;
    if (!holds_statements(s, taken)) {
      f(nest_facts_->of<T>(s));
      continue;
    }
    T own;
    own.add(s);
    f(own);
    if (const auto* seq = s.as<tir::Seq>())
      pending.insert(pending.end(), seq->body.begin(), seq->body.end());
    else
      pending.push_back(body_of(s));
  }
}

/// What primitives see, and the trees that it was taken out of.
std::vector<Stmt> Tree::trees() const {
  std::vector<Stmt> all{root_};
  for (const CutOutStatements* cutout : {&focus_, &section_})
    if (cutout->whole) all.push_back(cutout->whole);
  return all;
}

Tree::Bases Tree::bases() const {
  Bases found;
  for (Stmt tree : trees())
    for_each_nest<NestFacts::Declared>(tree, {}, [&](const NestFacts::Declared& nest) {
      for (const auto& [view, base] : nest.views) found[view] = base;
    });
  return found;
}

BufferRef Tree::base_of(const Bases& bases, BufferRef buffer) {
  for (auto it = bases.find(buffer); it != bases.end() && it->second != nullptr; it = bases.find(buffer))
    buffer = it->second;
  return buffer;
}

BufferRef Tree::memory_of(BufferRef buffer) const {
  return base_of(bases(), buffer);
}

bool Tree::is_used_outside(BufferRef buffer, const std::vector<Stmt>& nests) const {
  const Bases bases = this->bases();
  const BufferRef memory = base_of(bases, buffer);
  std::vector<Stmt> taken = nests;
  for (const CutOutStatements* cutout : {&focus_, &section_})
    taken.insert(taken.end(), cutout->taken.begin(), cutout->taken.end());
  bool found = false;
  for (Stmt tree : trees())
    for_each_nest<NestFacts::Used>(tree, taken, [&](const NestFacts::Used& nest) {
      for (BufferRef other : nest.buffers) found |= base_of(bases, other) == memory;
    });
  return found;
}

bool Tree::is_non_escaping(BufferRef buffer, const std::vector<Stmt>& nests) const {
  BufferRef memory = memory_of(buffer);
  bool own = false;
  for (Stmt tree : trees())
    for_each_nest<NestFacts::Declared>(tree, {}, [&](const NestFacts::Declared& nest) {
      own |= std::find(nest.allocated.begin(), nest.allocated.end(), memory) != nest.allocated.end();
    });
  return own && !is_used_outside(memory, nests);
}

std::vector<BufferRef> Tree::constants_of(const std::vector<Stmt>& nests) const {
  std::vector<BufferRef> own;
  for (const Operand& operand : operands_)
    if (!is_used_outside(operand.buffer, nests)) own.push_back(operand.buffer);
  return own;
}

}  // namespace relaxc::schedule
