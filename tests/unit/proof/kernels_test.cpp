// kernels_test.cpp: right schedules are proved, wrong ones are refuted.
//
// Kernels of every family are scheduled as the compiler does it and must be proved, or checked at all sizes. Then the
// scheduled loops are made wrong by seed: loops lose or gain an iteration, subscripts move or change places, initial
// values, guards and stores are lost, constants and the operands of subtractions, divisions and comparisons change.
// Whether a mutant is wrong is decided here, by numbers: the interpreter gives others for random inputs, or leaves a
// buffer. Each of those must be refuted.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "compiler/proof/kernels/check_kernel.h"
#include "compiler/proof/kernels/sizes.h"
#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/visit.h"
#include "tests/sanitized.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc::proof {
namespace {

using arith::Expr;
using testing::narrow_target, testing::wide_target;
using tir::PrimFunc;
using tir::Stmt;

ScheduledKernel scheduled(arith::Context& context, const PrimFunc& definition, const Target& target, bool constants) {
  ScheduledKernel kernel{definition, definition, {}, {}};
  std::vector<tir::BufferRef> fixed;
  for (const tir::Param& param : definition.params)
    if (constants && param.buffer != nullptr && param.buffer->name == "weight") fixed.push_back(param.buffer);
  schedule::schedule_kernel(context, kernel.after, target, fixed, kernel.packed);
  return kernel;
}

std::vector<PrimFunc> definitions(arith::Context& context, bool open) {
  auto index = [&](int64_t n) { return context.index(n); };
  const Expr n = open ? Expr(context.var("n")) : index(13);
  return {
      testing::matmul(context, {}, n, index(33), index(17), false, true),
      testing::matmul(context, {index(2)}, index(7), index(40), index(12), true, false),
      testing::matmul_of_bytes(context, n, index(32), index(20)),
      testing::conv_of_bytes(context, 8, 7, 16, 3, 1, false),
      testing::conv_of_bytes(context, 16, 9, 16, 3, 2, true),
      testing::conv(context, {.c = 8, .h = 12, .w = 12, .out = 8}, true),
      testing::conv(context, {.c = 6, .h = 11, .w = 9, .out = 6, .stride = 2, .groups = 6}, true),
      testing::conv(context, {.c = 5, .h = 9, .w = 9, .out = 7, .kernel = 1, .pad = 0}, false),
      testing::pool(context, index(2), {.kernel = 3, .stride = 2, .pad = 1}, false, true),
      testing::pool(context, n, {.kernel = 3, .stride = 1, .pad = 1}, true, false),
      testing::pool_of_map(context, index(1), {.c = 4}, false),
      testing::rows(context, n, index(37)),
      testing::rows_between_products(context, {index(2)}, n, index(19), 8, true),
      testing::attention(context, index(2), n, index(23)),
      testing::spatial(context, index(2), index(3), index(4), index(15)),
  };
}

bool holds(const KernelVerdict& verdict) {
  return verdict.answer == KernelAnswer::kProved || verdict.answer == KernelAnswer::kChecked;
}

TEST_CASE("schedules of every family are proved, and those of open dims at all sizes") {
  arith::Context context;
  for (const bool open : {false, true})
    for (const PrimFunc& definition : definitions(context, open))
      for (const Target& target : {wide_target(), narrow_target()})
        for (const bool constants : {false, true}) {
          if (testing::kSanitized && constants != open) continue;
          const KernelVerdict verdict = check_kernel(scheduled(context, definition, target, constants));
          INFO(verdict.kernel << ": " << verdict.text << "\n" << verdict.steps);
          CHECK(holds(verdict));
          const bool fixed = definition.symbols.empty();
          if (fixed) CHECK(verdict.answer == KernelAnswer::kProved);
        }
}

/// What is made wrong.
enum Mutation : uint8_t {
  kDropIteration,
  kAddIteration,
  kMoveSubscript,
  kSwapSubscripts,
  kDropInit,
  kDropGuard,
  kChangeConstant,
  kSwapOperands,
  kDropStore,
  kMutations,
  kDropOperand,  ///< of a maximum or minimum; all of them are tried
};

/// A mutation of the `site`-th place that has one, over all statements and their expressions.
class Mutator {
 public:
  Mutator(arith::Context& context, Mutation mutation, size_t site)
      : context_(context), mutation_(mutation), site_(site) {}

  /// How many places there were.
  size_t sites() const { return seen_; }

  Stmt run(Stmt body) {
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](Stmt s) { return statement(s); };
    rewriter.on_expr = [&](Expr e) { return arith::rewrite(e, [&](Expr node) { return expression(node); }); };
    return tir::rewrite(context_, body, rewriter);
  }

 private:
  bool hit() { return seen_++ == site_; }

  static bool stores_constant(const tir::Store& store) {
    return store.value.constant() != nullptr || store.value.as<arith::FloatImm>() != nullptr;
  }

  Stmt statement(Stmt s) {
    tir::Builder b(context_);
    if (const auto* loop = s.as<tir::For>()) {
      if ((mutation_ != kDropIteration && mutation_ != kAddIteration) || !hit()) return s;
      auto* made = context_.arena().make<tir::For>(*loop);
      made->extent = loop->extent + (mutation_ == kDropIteration ? -1 : 1);
      return Stmt(made);
    }
    if (const auto* branch = s.as<tir::If>()) return mutation_ == kDropGuard && hit() ? branch->then_body : s;
    if (const auto* block = s.as<tir::Block>()) {
      const bool wanted = (mutation_ == kDropInit && block->init) || (mutation_ == kDropGuard && block->predicate);
      if (!wanted || !hit()) return s;
      auto* made = context_.arena().make<tir::Block>(*block);
      (mutation_ == kDropInit) ? made->init = Stmt() : Stmt();
      if (mutation_ == kDropGuard) made->predicate = Expr();
      return Stmt(made);
    }
    const auto* store = s.as<tir::Store>();
    if (store == nullptr) return s;
    if (mutation_ == kDropStore || (mutation_ == kDropInit && stores_constant(*store))) return hit() ? b.seq({}) : s;
    auto* made = context_.arena().make<tir::Store>(*store);
    if (!subscripts(made->indices)) return s;
    return Stmt(made);
  }

  bool subscripts(std::vector<Expr>& indices) {
    if (mutation_ == kMoveSubscript && !indices.empty() && hit()) {
      indices.back() = indices.back() + 1;
      return true;
    }
    if (mutation_ != kSwapSubscripts || indices.size() < 2 || indices.back() == indices[indices.size() - 2] || !hit())
      return false;
    std::swap(indices.back(), indices[indices.size() - 2]);
    return true;
  }

  Expr expression(Expr e) {
    if (const auto* load = e.as<arith::Load>()) {
      std::vector<Expr> indices = load->indices;
      return subscripts(indices) ? context_.load(load->buffer, load->dtype, indices) : e;
    }
    if (const auto* select = e.as<arith::Select>()) return mutation_ == kDropGuard && hit() ? select->then_value : e;
    if (const auto* value = e.as<arith::FloatImm>())
      return mutation_ == kChangeConstant && hit() ? context_.imm_float(value->dtype, value->value + 1) : e;
    if (const auto* value = e.as<arith::IntImm>())
      return mutation_ == kChangeConstant && !value->dtype.is_bool() && hit()
                 ? context_.imm(value->dtype, value->value + 1)
                 : e;
    const bool is_extreme = e.as<arith::Max>() != nullptr || e.as<arith::Min>() != nullptr;
    if (mutation_ == kDropOperand && is_extreme && e->dtype.is_float() && hit())
      return static_cast<const arith::Binary&>(*e.node()).a;
    const bool ordered = e.as<arith::Sub>() != nullptr || e.as<arith::Div>() != nullptr || e.as<arith::Lt>() != nullptr;
    if (!ordered || mutation_ != kSwapOperands || !hit()) return e;
    const auto& binary = static_cast<const arith::Binary&>(*e.node());
    return context_.binary(e->kind, binary.b, binary.a);
  }

  arith::Context& context_;
  Mutation mutation_;
  size_t site_, seen_ = 0;
};

using Numbers = std::vector<std::vector<std::byte>>;

/// What the kernel leaves in memory, for random inputs; nothing if it leaves a buffer.
std::optional<Numbers> numbers(const PrimFunc& kernel, const ScheduledKernel& whole, uint32_t seed) {
  std::mt19937 random(seed);
  Numbers memory;
  for (const tir::Param& param : whole.before.params) {
    int64_t count = 1;
    for (const Expr dim : param.buffer->shape) count *= *dim.constant();
    const DType dtype = param.buffer->dtype;
    std::vector<std::byte>& bytes = memory.emplace_back(static_cast<size_t>(count * dtype.bytes()));
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<int32_t>(random() % 17) - (dtype.is_uint() ? 0 : 8);
      const auto real = static_cast<float>(value);
      std::memcpy(bytes.data() + i * dtype.bytes(), dtype.is_float() ? static_cast<const void*>(&real) : &value,
                  static_cast<size_t>(dtype.bytes()));
    }
  }
  Numbers given = memory;
  for (size_t i = 0; i < whole.before.params.size(); ++i)
    for (const schedule::PackedParam& one : whole.packed)
      if (kernel.params[i].buffer == one.packed) given[i] = one.packing.apply(memory[i], one.param->dtype.bytes());
  std::vector<void*> buffers;
  for (std::vector<std::byte>& bytes : given) buffers.push_back(bytes.data());
  try {
    if (!tir::make_interpreter()->run(kernel, buffers, {})) return std::nullopt;
  } catch (const InternalError&) {
    return std::nullopt;
  }
  for (const schedule::PackedParam& one : whole.packed)
    for (size_t i = 0; i < kernel.params.size(); ++i)
      if (kernel.params[i].buffer == one.packed) given[i].clear();
  return given;
}

/// Floats by a tolerance that no rounding exceeds, since inputs are small integers; other bytes as they are.
bool differ(const PrimFunc& kernel, const Numbers& a, const Numbers& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (kernel.params[i].buffer->dtype != DType::f(32)) {
      if (a[i] != b[i]) return true;
      continue;
    }
    for (size_t at = 0; at < a[i].size(); at += sizeof(float)) {
      float x = 0, y = 0;
      std::memcpy(&x, a[i].data() + at, sizeof x), std::memcpy(&y, b[i].data() + at, sizeof y);
      if (std::isnan(x) != std::isnan(y) || std::fabs(x - y) > 1e-2F * (1 + std::fabs(x))) return true;
    }
  }
  return false;
}

/// Nothing is run whole.
constexpr KernelCheckOptions kOnlyPart{.limit = 0};

TEST_CASE("of kernels that are too large, a part is checked up to 8") {
  arith::Context context;
  for (const bool open : {false, true})
    for (const PrimFunc& definition : definitions(context, open))
      for (const Target& target : {wide_target(), narrow_target()}) {
        const KernelVerdict verdict = check_kernel(scheduled(context, definition, target, true), kOnlyPart);
        INFO(verdict.kernel << ": " << verdict.text << "\n" << verdict.steps);
        CHECK(verdict.answer == KernelAnswer::kCheckedInPart);
      }
}

TEST_CASE("a part takes a fraction of the instructions, and its ends are seen") {
  arith::Context context;
  auto index = [&](int64_t value) { return context.index(value); };
  for (const PrimFunc& definition : {testing::conv(context, {.c = 3, .h = 40, .w = 40, .out = 8}, true),
                                     testing::matmul(context, {}, index(100), index(8), index(100), true, false)})
    for (const Target& target : {wide_target(), narrow_target()}) {
      const ScheduledKernel right = scheduled(context, definition, target, true);
      const KernelVerdict whole = check_kernel(right);
      const KernelVerdict part = check_kernel(right, {.limit = 0, .parts = 1}), more = check_kernel(right, kOnlyPart);
      INFO(whole.kernel << "\n" << whole.steps);
      CHECK(whole.answer == KernelAnswer::kProved);
      CHECK(part.answer == KernelAnswer::kCheckedInPart);
      CHECK(part.instructions < whole.instructions / 2);
      CHECK(part.text == "at most 8 indices of each dim");
      CHECK(more.text == "at most 8 indices of each dim and 3 times others");
      for (const Mutation mutation : {kDropIteration, kAddIteration, kMoveSubscript})
        for (const size_t site : {size_t{0}, size_t{1}}) {
          ScheduledKernel mutant = right;
          mutant.after.body = Mutator(context, mutation, site).run(right.after.body);
          const bool wrong = check_kernel(mutant).answer == KernelAnswer::kRefuted;
          INFO("mutation " << int{mutation} << " at " << site);
          CHECK((check_kernel(mutant, kOnlyPart).answer == KernelAnswer::kRefuted) == wrong);
        }
    }
}

TEST_CASE("an error in the middle of a dim is found by one of the further parts") {
  arith::Context context;
  const PrimFunc product =
      testing::matmul(context, {}, context.index(100), context.index(8), context.index(64), true, false);
  size_t first = 0, any = 0;
  for (int64_t row = 0; row < 100; ++row) {
    // The definition beside a form that leaves out one row.
    ScheduledKernel mutant{product, product, {}, {}};
    tir::Builder build(context);
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](tir::Stmt s) {
      const auto* store = s.as<tir::Store>();
      if (store == nullptr || store->indices.empty()) return s;
      return build.branch(arith::ne(store->indices.at(store->indices.size() - 2), context.index(row)), s);
    };
    mutant.after.body = tir::rewrite(context, product.body, rewriter);
    first += check_kernel(mutant, {.limit = 0, .parts = 1}).answer == KernelAnswer::kRefuted;
    any += check_kernel(mutant, kOnlyPart).answer == KernelAnswer::kRefuted;
  }
  CHECK(first == 8);
  CHECK(any > 20);
}

TEST_CASE("sizes of parts are those up to 8 that facts admit") {
  arith::Context context;
  const arith::Var n = context.var("n"), m = context.var("m"), k = context.var("k");
  arith::Facts facts;
  facts.bound(n, {3, 6});
  facts.bound(m, arith::Range::at_least(10));
  facts.multiple(m, 4);
  CHECK(small_sizes({n}, facts) == std::vector<std::vector<int64_t>>{{3}, {4}, {5}, {6}});
  CHECK(small_sizes({m}, facts) == std::vector<std::vector<int64_t>>{{12}});
  CHECK(small_sizes({}, facts) == std::vector<std::vector<int64_t>>{{}});
  const std::vector<std::vector<int64_t>> sampled = small_sizes({n, k, m}, facts);
  CHECK(sampled.size() == 24);  // of 4 * 8
  CHECK(std::set<std::vector<int64_t>>(sampled.begin(), sampled.end()).size() == 24);
}

TEST_CASE("every wrong schedule of two hundred is refuted, also where only a part is checked") {
  arith::Context context;
  constexpr int kEach = testing::sample(2, 2);  // of each way, for each kernel and target
  size_t wrong = 0, by_mutation[kMutations] = {};
  uint32_t seed = 0;
  for (const PrimFunc& definition : definitions(context, false))
    for (const Target& target : {wide_target(), narrow_target()}) {
      const ScheduledKernel right = scheduled(context, definition, target, true);
      const std::optional<Numbers> wanted = numbers(right.after, right, 1);
      REQUIRE(wanted);
      for (uint8_t mutation = 0; mutation < kMutations; ++mutation) {
        Mutator count(context, static_cast<Mutation>(mutation), SIZE_MAX);
        count.run(right.after.body);
        for (int attempt = 0, found = 0; attempt < 12 && found < kEach && count.sites() > 0; ++attempt) {
          std::mt19937 random(++seed);
          const size_t site = random() % count.sites();
          ScheduledKernel mutant = right;
          mutant.after.body = Mutator(context, static_cast<Mutation>(mutation), site).run(right.after.body);
          const std::optional<Numbers> made = numbers(mutant.after, mutant, 1);
          if (made && !differ(definition, *wanted, *made)) continue;
          const KernelVerdict verdict = check_kernel(mutant);
          INFO(verdict.kernel << ", mutation " << int{mutation} << " at " << site << ": " << verdict.text << "\n"
                              << verdict.steps);
          CHECK(verdict.answer == KernelAnswer::kRefuted);
          const KernelVerdict part = check_kernel(mutant, kOnlyPart);
          INFO("a part: " << part.text);
          CHECK(part.answer == KernelAnswer::kRefuted);
          ++wrong, ++found, ++by_mutation[mutation];
        }
      }
    }
  CHECK(wrong >= size_t{100} * kEach);
  for (const size_t one : by_mutation) CHECK(one > 0);
}

/// Pools of which each lane starts from the maximum of the rows before, so that it is an operand several times.
std::vector<PrimFunc> pools_in_lanes(arith::Context& context) {
  std::vector<PrimFunc> pools;
  for (const int64_t kernel : {8, 11})
    pools.push_back(testing::pool(context, context.index(2),
                                  {.c = 1, .h = 22, .w = kernel + 1, .kernel = kernel, .stride = kernel}, false,
                                  false));
  return pools;
}

TEST_CASE("pools whose lanes start from the maximum so far are proved") {
  arith::Context context;
  for (const PrimFunc& definition : pools_in_lanes(context)) {
    const ScheduledKernel right = scheduled(context, definition, narrow_target(), false);
    INFO(right.after.schedule.steps);
    CHECK(right.after.schedule.steps.find("reduce_in_lanes") != std::string::npos);
    CHECK(check_kernel(right).answer == KernelAnswer::kProved);
    CHECK(check_kernel(right, kOnlyPart).answer == KernelAnswer::kCheckedInPart);
  }
}

TEST_CASE("a maximum that lost an operand is refuted, also where only a part is checked") {
  arith::Context context;
  std::vector<PrimFunc> kernels = pools_in_lanes(context);
  kernels.push_back(testing::pool(context, context.index(1), {.kernel = 3, .stride = 2, .pad = 1}, false, true));
  kernels.push_back(testing::rows(context, context.index(3), context.index(37)));
  size_t wrong = 0;
  for (const PrimFunc& definition : kernels) {
    const ScheduledKernel right = scheduled(context, definition, narrow_target(), false);
    const std::optional<Numbers> wanted = numbers(right.after, right, 1);
    REQUIRE(wanted);
    Mutator count(context, kDropOperand, SIZE_MAX);
    count.run(right.after.body);
    CHECK(count.sites() > 0);
    for (size_t site = 0; site < count.sites(); ++site) {
      ScheduledKernel mutant = right;
      mutant.after.body = Mutator(context, kDropOperand, site).run(right.after.body);
      const std::optional<Numbers> made = numbers(mutant.after, mutant, 1);
      if (made && !differ(definition, *wanted, *made)) continue;
      INFO(definition.name << " without an operand at " << site << "\n" << right.after.schedule.steps);
      CHECK(check_kernel(mutant).answer == KernelAnswer::kRefuted);
      CHECK(check_kernel(mutant, kOnlyPart).answer == KernelAnswer::kRefuted);
      ++wrong;
    }
  }
  CHECK(wrong >= 8);
}

/// The kernel with the loops of `extent` iterations parallel.
ScheduledKernel with_parallel_loops(arith::Context& context, const PrimFunc& definition, int64_t extent) {
  ScheduledKernel kernel{definition, definition, {}, {}};
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* loop = s.as<tir::For>();
    if (loop == nullptr || !loop->extent.is_constant(extent)) return s;
    auto* made = context.arena().make<tir::For>(*loop);
    made->loop_kind = tir::LoopKind::kParallel;
    return Stmt(made);
  };
  kernel.after.body = tir::rewrite(context, definition.body, rewriter);
  return kernel;
}

TEST_CASE("iterations of a parallel loop that meet in one element are refuted") {
  arith::Context context;
  const PrimFunc product =
      testing::matmul(context, {}, context.index(3), context.index(5), context.index(17), false, false);
  CHECK(check_kernel(with_parallel_loops(context, product, 3)).answer == KernelAnswer::kProved);
  const KernelVerdict sums = check_kernel(with_parallel_loops(context, product, 17));
  CHECK(sums.answer == KernelAnswer::kRefuted);
  CHECK(sums.text.find("iteration of a parallel loop") != std::string::npos);
}

}  // namespace
}  // namespace relaxc::proof
