// lane_printer.cpp: prints vectorized loops statement by statement.
//
// The loop over lanes is the outermost one of a tile, and the reduction is inside of it. Printed in this order, every
// lane would walk through memory by itself. So the statements between two inner loops run for all lanes before what
// follows. Locals that outlive them then have one element for each lane, contiguous.
//
// In C99, neighbouring statements share one loop over lanes, as long as possible: GCC unrolls loops of up to 16 short
// steps before its vectorizer sees them, and cannot combine conditional loads again; a long loop stays whole and is
// vectorized with masks. Unrolled loops are printed as copies, so that subscripts of locals are constants and a vector
// of them can stay in a register. Uniform statements are before the loop, once, with their conditions. Statements that
// test a condition per lane have a loop of their own if they are the smaller part: the rest then has no masks, with
// which GCC does not keep sums in registers. (One loop for each statement was 3 to 6 times slower than LLVM's object,
// and copies with a loop each up to 20 times; measured by bench/c_backend.py.) With the vector types of GCC and clang a
// statement is one operation on vectors if all its parts have one (vector_expression.h).
//
// A vectorized loop without inner loops is printed as an ordinary loop: it computes the same, and is easier to read.
#include <algorithm>

#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/types.h"
#include "compiler/codegen/c/vector_expression.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {

using arith::Expr;
using tir::Lanes;
using tir::Stmt;

bool is_copied(const tir::For& loop) {
  return loop.loop_kind == tir::LoopKind::kUnrolled && loop.extent.constant() != nullptr;
}

namespace {

bool is_loop(Stmt s) {
  const auto* loop = s.as<tir::For>();
  return s.as<tir::While>() != nullptr || (loop != nullptr && !is_copied(*loop));
}

bool has_choice(Stmt body) {
  bool found = false;
  tir::for_each_stmt(body, [&](Stmt s) { found |= s.as<tir::If>() != nullptr; });
  return found;
}

/// The number of stores in the text, where each copy of an unrolled body counts.
int64_t count_stores(Stmt s) {
  if (!s) return 0;
  return tir::visit(
      s, [](const tir::Store&) -> int64_t { return 1; },
      [](const tir::For& n) { return count_stores(n.body) * (is_copied(n) ? *n.extent.constant() : 1); },
      [](const tir::Seq& n) {
        int64_t sum = 0;
        for (Stmt part : n.body) sum += count_stores(part);
        return sum;
      },
      [](const tir::If& n) { return count_stores(n.then_body) + count_stores(n.else_body); },
      [](const tir::Let& n) { return count_stores(n.body); }, [](const tir::Alloc& n) { return count_stores(n.body); },
      [](const tir::Block& n) { return count_stores(n.init) + count_stores(n.body); },
      [](const auto&) -> int64_t { return 0; });
}

/// Whether few parts have conditions that differ between lanes, and most work has none. In loops of their own, others
/// become vectors, and so do the parts with conditions, if there are enough of these for a loop that stays whole.
bool chooses_in_parts(const tir::Seq& seq) {
  constexpr int64_t kLeast = 2, kMost = 3;
  int64_t choosing = 0, others = 0;
  for (Stmt part : seq.body) (has_choice(part) ? choosing : others) += count_stores(part);
  return choosing >= kLeast && others >= kMost * choosing;
}

/// Whether loops remain in the text of `body`. An unrolled loop is none: its copies are statements like others.
bool has_loop(Stmt body) {
  bool found = false;
  tir::for_each_stmt(body, [&](Stmt s) { found |= is_loop(s); });
  return found;
}

}  // namespace

std::optional<LanePrinter::Loop> LanePrinter::lanes_of(const tir::For& node) const {
  const int64_t* count = node.extent.constant();
  bool vectors = node.loop_kind == tir::LoopKind::kVectorized && loop_ == nullptr && !in_lane_ && !values_.may_check();
  if (!vectors || count == nullptr || *count < 2 || *count > 1024) return std::nullopt;
  Loop loop{Lanes(node, !vectors_), *count};
  return loop.lanes.may_run_together() ? std::optional(std::move(loop)) : std::nullopt;
}

void LanePrinter::print(const tir::For& node, Loop& loop) {
  if (!vectors_ && !has_loop(node.body)) {
    in_lane_ = true;
    f_.print_loop(node);
    in_lane_ = false;
    return;
  }
  out_.open("{");
  const std::string first = values_.hoisted(node.min);
  out_.line("const {} {} = {};", values_.counter_type(node), names_.of(node.var), first);
  f_.admit_unused(node.var);
  loop_ = &loop;
  f_.suite(node.body);
  loop_ = nullptr;
  out_.close();
}

Stmt LanePrinter::step(Stmt s) {
  auto whole = [&](bool even) { return even ? f_.step(s) : (together({s}), Stmt()); };
  if (!vectors_) {
    if (!is_separate(s)) return together({s}), Stmt();
    if (const auto* seq = s.as<tir::Seq>()) return print_seq(*seq), Stmt();
    if (const auto* store = s.as<tir::Store>()) return once(*store), Stmt();
  }
  return tir::visit(
      s, [&](const tir::Let& n) { return print_let(n), n.body; },
      [&](const tir::Store& n) { return print_store(s, n), Stmt(); },
      [&](const tir::If& n) {
        if (is_uniform(n.condition) || !vectors_ || !can_mask(s)) return whole(is_uniform(n.condition));
        return print_masked(n), Stmt();
      },
      [&](const tir::Block& n) { return whole(loop_->lanes.has_even_axes(n)); },
      [&](const auto&) { return f_.step(s); });
}

/// Whether a loop over lanes may not hold the statement: it has loops, stores what lanes share, or has a condition that
/// is the same for all lanes.
bool LanePrinter::is_separate(Stmt s) const {
  bool found = false;
  tir::for_each_stmt(s, [&](Stmt part) {
    const auto* store = part.as<tir::Store>();
    const auto* choice = part.as<tir::If>();
    const auto* seq = part.as<tir::Seq>();
    found |= is_loop(part) || (store != nullptr && loop_->lanes.is_shared(store->buffer)) ||
             (choice != nullptr && is_uniform(choice->condition)) || (seq != nullptr && chooses_in_parts(*seq));
  });
  return found;
}

/// Prints a store to memory that all lanes share: once, not for each lane.
void LanePrinter::once(const tir::Store& node) {
  Loop* loop = std::exchange(loop_, nullptr);
  f_.print(node);
  loop_ = loop;
}

/// Prints neighbours in one loop over lanes where they may share it.
void LanePrinter::print_seq(const tir::Seq& node) {
  const bool apart = chooses_in_parts(node);
  std::vector<Stmt> run;
  auto flush = [&] {
    if (!run.empty()) together(run);
    run.clear();
  };
  for (Stmt part : node.body) {
    if (is_separate(part)) {
      flush();
      f_.statement(part);
      continue;
    }
    if (apart && !run.empty() && has_choice(part) != has_choice(run.back())) flush();
    run.push_back(part);
  }
  flush();
}

/// Prints one loop over lanes, whose body is all of the statements.
void LanePrinter::together(const std::vector<Stmt>& statements) {
  each_lane(
      [&] {
        for (Stmt s : statements) statements.size() == 1 ? f_.suite(s) : f_.statement(s);
      },
      statements);
}

/// Prints a loop over lanes around the text of `print`, which prints the statements `inside`.
void LanePrinter::each_lane(const std::function<void()>& print, const std::vector<Stmt>& inside) {
  Loop* loop = std::exchange(loop_, nullptr);
  LaneView view{&loop->lanes, loop->count, names_.fresh("lane"), {}, {}};
  for (Stmt root : inside)
    tir::for_each_stmt(root, [&](Stmt s) {
      if (const auto* let = s.as<tir::Let>()) view.own_vars.insert(let->var->id);
      if (const auto* inner = s.as<tir::For>()) view.own_vars.insert(inner->var->id);
      if (const auto* alloc = s.as<tir::Alloc>()) view.own_buffers.insert(alloc->buffer->id);
      if (const auto* block = s.as<tir::Block>())
        for (const tir::IterVar& iter : block->iters) view.own_vars.insert(iter.var->id);
    });
  const std::string type = values_.lane_type();
  out_.open(fmt::format("for ({2} {0} = 0; {0} < {1}; {0}++) {{", view.index, view.count, type));
  expressions_.set_lane(&view);
  in_lane_ = true;
  print();
  in_lane_ = false;
  expressions_.set_lane(nullptr);
  out_.close();
  loop_ = loop;
}

void LanePrinter::print_let(const tir::Let& node) {
  if (loop_->lanes.step(node.value)) {
    (void)f_.print_let(node);
    return;
  }
  std::string name = names_.of(node.var);
  out_.line("{} {}[{}];", expressions_.type_of(node.value), name, loop_->count);
  f_.admit_unused(node.var);
  VectorExpression vector = vector_expression();
  if (vectors_ && vector.has_type(node.value.dtype()) && vector.can(node.value)) {
    values_.scoped(vector.share(node.value),
                   [&] { out_.line("{};", vector.stored(node.value.dtype(), name, vector.text(node.value))); });
    return;
  }
  each_lane(
      [&] {
        values_.scoped(expressions_.share({node.value}), [&] {
          std::string value = expressions_.text(node.value);
          out_.line("{} = {};", expressions_.text(node.var), value);
        });
      },
      {});
}

void LanePrinter::print_store(Stmt s, const tir::Store& node) {
  if (!vectors_ || !vector_store(node)) together({s});
}

bool LanePrinter::vector_store(const tir::Store& node) {
  VectorExpression vector = vector_expression();
  if (!vector.can_store(node.buffer, node.indices) || !vector.can(node.value)) return false;
  values_.scoped(vector.share(node.value), [&] {
    std::string value = vector.text(node.value);
    out_.line("{};", vector.stored(node.buffer, node.indices, value));
  });
  return true;
}

VectorExpression LanePrinter::vector_expression() {
  return {expressions_, names_, loop_->lanes, loop_->count, mask_};
}

/// Whether all of `s`, which runs in some lanes only, can run in all lanes under a mask.
bool LanePrinter::can_mask(Stmt s) {
  if (!s) return true;
  VectorExpression vector(expressions_, names_, loop_->lanes, loop_->count, "mask");
  return tir::visit(
      s,
      [&](const tir::Seq& n) {
        for (Stmt part : n.body)
          if (!can_mask(part)) return false;
        return true;
      },
      [&](const tir::If& n) {
        return vector.has_type(DType::i(32)) && vector.can(n.condition) && can_mask(n.then_body) &&
               can_mask(n.else_body);
      },
      [&](const tir::Block& n) { return loop_->lanes.has_even_axes(n) && can_mask(n.init) && can_mask(n.body); },
      [&](const tir::Let& n) {
        bool lanes = vector.has_type(n.value.dtype()) && vector.can(n.value);
        bool scalar = loop_->lanes.step(n.value).has_value() && n.value.dtype().is_index() && vector.can_index(n.value);
        return (lanes || scalar) && can_mask(n.body);
      },
      [&](const tir::Store& n) { return vector.can_store(n.buffer, n.indices) && vector.can(n.value); },
      [&](const auto&) { return false; });
}

void LanePrinter::print_masked(const tir::If& node) {
  VectorExpression vector = vector_expression();
  std::string outer = mask_, name = names_.fresh("mask"), type = vector.type(DType::i(32));
  out_.open("{");
  values_.declare(vector.share(node.condition));
  out_.line("const {} {} = {}{};", type, name, outer.empty() ? "" : outer + " & ", vector.mask(node.condition, 32));
  expressions_.end_statement();
  mask_ = name;
  f_.suite(node.then_body);
  if (node.else_body) {
    mask_ = names_.fresh("mask");
    out_.line("const {} {} = {}~{};", type, mask_, outer.empty() ? "" : outer + " & ", name);
    f_.suite(node.else_body);
  }
  mask_ = outer;
  out_.close();
}

}  // namespace relaxc::codegen_c
