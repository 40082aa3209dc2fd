// frames_test.cpp: plans that are wrong are refused.
//
// Right plans of programs without branches and loops are made wrong by seed: offsets are moved and exchanged, frames
// are made smaller, and tensors are read once more at the end. Whether a plan is wrong then is decided here, by
// numbers: intervals of statements and of bytes at several sizes. Only what is wrong beyond doubt counts: two tensors
// of which each is named before and after the other, or one that reaches beyond its memory.
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/arith/visit.h"
#include "compiler/plan/frame.h"
#include "compiler/proof/frames.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host_facts.h"
#include "tests/sanitized.h"
#include "tests/unit/pipeline/harness.h"

namespace relaxc::test {
namespace {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

const char* const kPrograms[] = {"attention", "broadcast_chain", "cache",           "masked", "mlp_high_level",
                                 "pyramid",   "shared_work",     "shape_arguments", "lstm",   "inplace_packed"};
enum Change : uint8_t { kMove, kExchange, kShrink, kReadAgain, kChanges };

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(RELAXC_SOURCE_DIR) + "/tests/e2e/programs/" + name + ".relax");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// From which to which statement each allocation is named; nothing if there are branches or loops.
std::optional<std::map<BufferRef, std::pair<int, int>>> lifetimes(Stmt body) {
  std::map<BufferRef, std::pair<int, int>> found;
  std::map<BufferRef, BufferRef> roots;
  int now = 0;
  bool straight = true;
  auto name = [&](BufferRef buffer) {
    auto root = roots.find(buffer);
    if (root == roots.end()) return;
    auto [life, _] = found.emplace(root->second, std::pair(now, now));
    life->second.second = now;
  };
  tir::for_each_stmt(body, [&](Stmt s) {
    ++now;
    straight &= s.as<tir::If>() == nullptr && s.as<tir::For>() == nullptr && s.as<tir::While>() == nullptr;
    if (const auto* alloc = s.as<tir::Alloc>()) roots[alloc->buffer] = alloc->buffer;
    if (const auto* view = s.as<tir::View>())
      if (auto base = roots.find(view->base); base != roots.end()) roots[view->buffer] = base->second;
    if (const auto* store = s.as<tir::Store>()) name(store->buffer);
    if (const auto* invoke = s.as<tir::Invoke>())
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<BufferRef>(&argument)) name(*buffer);
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) name(load->buffer);
      });
  });
  if (!straight) return std::nullopt;
  return found;
}

/// One program up to the plan of its memory, which is made anew for every change.
class Planned {
 public:
  explicit Planned(const std::string& name) : program_(text_of(name)) {
    PassOptions options;
    options.stop_after = "schedule_calls_for_memory";
    program_.run({compile_pipeline().begin(), compile_pipeline().end()}, options);
    host_ = module().find_prim_func(program_.object().entries.at(0).call);
    body_ = host_->body;
    old_ = host_->params.at(*host_->host.arena).buffer;
    facts_ = lower::facts_of(module(), program_.object(), *host_);
    Diagnostics diag;
    auto frame = plan::plan_frame(module().context(), body_, facts_, nullptr, diag, lower::calls_of(module()));
    REQUIRE(frame);
    frame_ = *frame;
    for (const std::string& callee : frame_.in_place)
      module().find_prim_func(callee)->noalias &= module().find_prim_func(callee)->memory.copies;
  }

  size_t tensors() const { return frame_.placements.size(); }
  bool is_straight() const { return lifetimes(body_).has_value(); }

  /// What the checker says of the plan with a change, and whether that is wrong beyond doubt.
  std::pair<proof::Claims, bool> with(Change change, std::minstd_rand& random) {
    plan::Frame frame = frame_;
    Stmt body = body_;
    plan::Placement& one = frame.placements.at(random() % tensors());
    plan::Placement& other = frame.placements.at(random() % tensors());
    if (change == kMove) one.offset = one.offset + (static_cast<int64_t>(random() % 64) - 32) * 16;
    if (change == kExchange) std::swap(one.offset, other.offset);
    if (change == kShrink) frame.bytes = frame.bytes - static_cast<int64_t>(1 + random() % 512);
    if (change == kReadAgain) body = read_at_end(one.buffer);
    return {check(frame, body), is_wrong(frame, body)};
  }
  proof::Claims unchanged() { return check(frame_, body_); }

 private:
  relax::Module& module() { return program_.module(); }

  proof::Claims check(const plan::Frame& frame, Stmt body) {
    tir::Builder build(module().context());
    BufferRef arena = build.buffer(old_->name, old_->dtype, {frame.bytes}, old_->scope, old_->alignment);
    host_->params.at(*host_->host.arena).buffer = arena;
    host_->body = plan::place_in_arena(module().context(), body, frame, old_, arena);
    tell_size(frame.bytes);
    auto find = [this](const std::string& name) -> const tir::PrimFunc* { return module().find_prim_func(name); };
    return proof::check_frames({host_}, {{host_->name, body}}, program_.object(), find).at(0);
  }

  /// The function that tells the arena's size tells this one.
  void tell_size(Expr bytes) {
    tir::PrimFunc& arena = *module().find_prim_func(program_.object().entries.at(0).arena);
    tir::Builder build(module().context());
    std::vector<arith::Var> ours;
    for (const tir::Param& param : host_->params)
      if (param.buffer == nullptr) ours.push_back(param.var);
    arith::Substitution symbols;
    BufferRef result = nullptr;
    for (const tir::Param& param : arena.params) {
      if (param.buffer != nullptr)
        result = param.buffer;
      else
        symbols[ours.at(symbols.size())] = param.var;
    }
    const Expr told = arith::substitute(bytes, symbols);
    arena.body = build.store(result, {build.index(0)}, arith::cast(DType::i(64), told));
  }

  Stmt read_at_end(BufferRef buffer) {
    tir::Builder build(module().context());
    std::vector<Expr> first(buffer->shape.size(), build.index(0));
    tir::Guard guard;
    guard.condition = arith::le(arith::cast(DType::index(), build.load(buffer, first)), build.index(int64_t{1} << 40));
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      return alloc != nullptr && alloc->buffer == buffer
                 ? build.alloc(buffer, build.seq({alloc->body, build.guard(guard)}))
                 : s;
    };
    return tir::rewrite(module().context(), body_, rewriter);
  }

  bool is_wrong(const plan::Frame& frame, Stmt body) {
    const auto lives = *lifetimes(body);
    for (int64_t size : {1, 2, 3, 5, 16, 33, 100, 256}) {
      auto value_of = [&](arith::Var var) { return plan::typical(facts_, var, size); };
      bool admitted = std::all_of(facts_.assumptions().begin(), facts_.assumptions().end(),
                                  [&](Expr assumed) { return arith::evaluate(assumed, value_of).value_or(0) == 1; });
      if (admitted && is_wrong_at(frame, lives, value_of)) return true;
    }
    return false;
  }

  bool is_wrong_at(const plan::Frame& frame, const std::map<BufferRef, std::pair<int, int>>& lives,
                   const std::function<int64_t(arith::Var)>& value_of) {
    struct Box {
      BufferRef memory;
      int64_t begin, end;
      std::pair<int, int> life;
    };
    std::vector<Box> boxes;
    const int64_t bytes = arith::evaluate(frame.bytes, value_of).value();
    for (const plan::Placement& placement : frame.placements) {
      const int64_t begin = arith::evaluate(placement.offset, value_of).value();
      const int64_t size = arith::evaluate(tir::byte_size(module().context(), *placement.buffer), value_of).value();
      if (size <= 0) continue;
      if (begin < 0 || (placement.donor == nullptr && begin + size > bytes)) return true;
      boxes.push_back({placement.donor, begin, begin + size, lives.at(placement.buffer)});
    }
    for (const Box& a : boxes)
      for (const Box& b : boxes) {
        if (&a == &b || a.memory != b.memory || a.begin >= b.end || b.begin >= a.end) continue;
        if (a.life.first < b.life.second && b.life.first < a.life.second) return true;
      }
    return false;
  }

  Program program_;
  tir::PrimFunc* host_ = nullptr;
  Stmt body_;
  BufferRef old_ = nullptr;
  arith::Facts facts_;
  plan::Frame frame_;
};

TEST_CASE("every one of 100 seeded wrong plans is refused") {
  constexpr int kEach = testing::sample(25);
  std::vector<std::unique_ptr<Planned>> plans;
  for (const char* name : kPrograms) {
    plans.push_back(std::make_unique<Planned>(name));
    INFO(name);
    CHECK(plans.back()->unchanged().refuted == std::vector<std::string>());
    if (!plans.back()->is_straight() || plans.back()->tensors() < 2) plans.pop_back();
  }
  REQUIRE(plans.size() >= 5);
  std::map<int, int> wrong;
  for (uint32_t seed = 1; wrong[kMove] + wrong[kExchange] + wrong[kShrink] + wrong[kReadAgain] < 4 * kEach; ++seed) {
    REQUIRE(seed < 2000);
    std::minstd_rand random(seed);
    random.discard(8);
    const auto change = static_cast<Change>(seed % kChanges);
    if (wrong[change] == kEach) continue;
    auto [claims, is_wrong] = plans[seed / kChanges % plans.size()]->with(change, random);
    if (!is_wrong) continue;
    ++wrong[change];
    INFO("seed " << seed << ", change " << static_cast<int>(change));
    CHECK(!claims.refuted.empty());
  }
}

}  // namespace
}  // namespace relaxc::test
