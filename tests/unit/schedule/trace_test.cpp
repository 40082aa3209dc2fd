// trace_test.cpp: traces are read back, and whatever is edited in them is refused or keeps what a kernel computes.
//
// The data are small whole numbers, so that sums are exact in any order and with any rounding: results are compared to
// the bit. Steps are made of the table of primitives itself, so a new primitive is tried without a word here.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "compiler/schedule/kernel.h"
#include "compiler/schedule/trace/trace.h"
#include "compiler/schedule/tree/names.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/visit.h"
#include "tests/sanitized.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using arith::Expr;
using schedule::Tree;
using Contents = std::vector<std::vector<std::byte>>;

constexpr int64_t kSize = 5;  ///< of every symbol

Contents whole_numbers(const tir::PrimFunc& f) {
  std::mt19937 random(5);
  Contents memory;
  for (const tir::Param& param : f.params) {
    int64_t count = 1;
    for (Expr dim : param.buffer->shape) count *= *arith::evaluate(dim, [](arith::Var) { return kSize; });
    const DType dtype = param.buffer->dtype;
    auto& one = memory.emplace_back(static_cast<size_t>(count * dtype.bytes()));
    for (int64_t i = 0; i < count; ++i) {
      auto number = static_cast<int8_t>(random() % 9) - 4;
      auto value = static_cast<float>(number);
      if (dtype == DType::bf16())  // the upper half
        std::memcpy(one.data() + i * 2, reinterpret_cast<const std::byte*>(&value) + 2, 2);
      else if (dtype.is_float())
        std::memcpy(one.data() + i * 4, &value, 4);
      else if (dtype.bits == 8)
        one[static_cast<size_t>(i)] = static_cast<std::byte>(number & 127);
    }
  }
  return memory;
}

/// What is left in the memory of parameters that are not packed.
Contents memory_after(const tir::PrimFunc& f, Contents memory, const std::vector<schedule::PackedParam>& packed) {
  std::vector<void*> buffers;
  std::set<size_t> replaced;
  for (size_t i = 0; i < f.params.size(); ++i)
    for (const schedule::PackedParam& one : packed)
      if (f.params[i].buffer == one.packed) {
        memory[i] = one.packing.apply(memory[i], one.param->dtype.bytes());
        replaced.insert(i);
      }
  for (auto& one : memory) buffers.push_back(one.data());
  std::vector<int64_t> scalars(f.symbols.size(), kSize);
  REQUIRE(tir::make_interpreter()->run(f, buffers, scalars));
  for (size_t i : replaced) memory[i].clear();
  return memory;
}

struct Case {
  tir::PrimFunc kernel;
  std::vector<tir::BufferRef> constants;
};

Target with_dots() {
  Target target = testing::wide_target();
  target.dots = {DotProduct::kPairs, DotProduct::kPairs, DotProduct::kMixed}, target.task_slots = 4;
  return target;
}

/// Without vectors, by products of pairs of 16-bit numbers.
Target with_pairs() {
  Target target;
  target.vector_bits = 0, target.dots = {DotProduct::kPairs, DotProduct::kNone, DotProduct::kNone};
  return target;
}

/// Helium: products of all lanes are added to a general register.
Target with_lane_sums() {
  Target target = testing::narrow_target();
  target.triple = "thumbv8.1m.main-unknown-none-eabihf", target.vector_registers = 8, target.has_fma = true;
  return target;
}

/// NEON with products of matrices of bytes, and of bfloat16.
Target with_matrices() {
  Target target = testing::narrow_target();
  target.vector_registers = 32, target.has_fma = true;
  target.dots.bits128 = DotProduct::kMixed, target.bfloat_dots.bits128 = target.byte_matrices = true;
  return target;
}

/// y[r, i] = sum over b, t of x[r, b, t] * (weight[i, b, t] * scale[i, b]): factors that terms share.
tir::PrimFunc scaled_blocks(arith::Context& context) {
  testing::KernelWriter w(context);
  Expr rows = context.index(3), columns = context.index(17), blocks = context.index(2), terms = context.index(8);
  tir::BufferRef x = w.param("x", {rows, blocks, terms}), weight = w.param("weight", {blocks, terms, columns});
  tir::BufferRef scale = w.param("scale", {blocks, columns}), y = w.param("y", {rows, columns});
  w.add(w.b.reduce(y, {blocks, terms}, w.zero(), [&](Expr sum, const tir::Indices& i, const tir::Indices& r) {
    Expr scaled = w.b.load(weight, {r[0], r[1], i[1]}) * w.b.load(scale, {r[0], i[1]});
    return sum + w.b.load(x, {i[0], r[0], r[1]}) * scaled;
  }));
  return w.finish("scaled_blocks");
}

/// y = t transposed times x, where t = x + x transposed: t need not be in memory.
tir::PrimFunc chained(arith::Context& context) {
  Expr n = context.var("n");
  testing::KernelWriter w(context);
  tir::BufferRef x = w.param("x", {n, n}), y = w.param("y", {n, n}), t = w.temporary("t", {n, n});
  w.add(w.b.compute(t, [&](const tir::Indices& i) { return w.b.load(x, i) + w.b.load(x, {i[1], i[0]}); }));
  w.add(w.b.compute(y, [&](const tir::Indices& i) { return w.b.load(t, {i[1], i[0]}) * w.b.load(x, i); }));
  return w.finish("chain");
}

/// y[r, c] = row[r, c] + row[r + 1, c] + row[r + 2, c], where row[r, c] is the sum of three columns of x.
tir::PrimFunc filtered(arith::Context& context) {
  testing::KernelWriter w(context);
  Expr rows = context.index(11), columns = context.index(19);
  tir::BufferRef x = w.param("x", {rows, columns + 2}), y = w.param("y", {rows - 2, columns});
  tir::BufferRef row = w.temporary("row", {rows, columns});
  w.add(w.b.reduce(
      row, {context.index(3)}, w.zero(),
      [&](Expr sum, const tir::Indices& i, const tir::Indices& k) {
        return sum + w.b.load(x, {i[0], i[1] + k[0]});
      },
      "row"));
  w.add(w.b.compute(
      y,
      [&](const tir::Indices& i) {
        auto at = [&](int64_t d) { return w.b.load(row, {i[0] + d, i[1]}); };
        return at(0) + at(1) + at(2);
      },
      "y"));
  return w.finish("filtered");
}

/// y_k = (k + 1) * x for k < count: nests of which none needs another.
tir::PrimFunc many_results(arith::Context& context, int count) {
  Expr n = context.var("n");
  testing::KernelWriter w(context);
  tir::BufferRef x = w.param("x", {n, n});
  for (int k = 0; k < count; ++k)
    w.add(w.b.compute(w.param("y" + std::to_string(k), {n, n}),
                      [&](const tir::Indices& i) { return w.b.load(x, i) * context.number(DType::f(32), k + 1.0); }));
  return w.finish("many_results");
}

/// Kernels of all kinds that rules know, small enough for an interpreter.
/// One after the other for random traces, most often with wide vectors.
Target machine(size_t number) {
  if (number % 2 == 0) return testing::wide_target();
  return number % 8 == 5 ? with_pairs() : number % 4 == 1 ? with_dots() : with_matrices();
}

std::vector<Case> cases(arith::Context& context) {
  auto index = [&](int64_t v) { return context.index(v); };
  Expr n = context.var("n");
  std::vector<Case> all;
  auto add = [&](tir::PrimFunc f, bool constant = false) {
    f.is_private = true;
    Case one{f, {}};
    if (constant) one.constants.push_back(f.params[1].buffer);
    all.push_back(one);
  };
  add(testing::matmul(context, {}, index(9), index(33), index(7), false, true), true);
  add(testing::matmul(context, {n}, n, index(6), index(5), false, true));
  add(testing::matmul(context, {}, n, index(8), n, true, true));
  add(testing::conv(context, {.c = 3, .h = 5, .w = 21, .out = 5}, true), true);
  add(testing::conv(context, {.c = 4, .h = 17, .w = 32, .out = 4, .stride = 2, .groups = 4}, true));
  add(testing::conv(context, {.c = 24, .h = 20, .w = 30, .out = 24}, true), true);
  add(testing::pool(context, n, {.h = 9, .w = 33, .kernel = 3, .pad = 1}, true, true));
  add(testing::pool(context, n, {.h = 10, .w = 16}, false, false));
  add(testing::rows(context, n, index(37)));
  add(testing::rows(context, index(40), n));
  add(testing::rows_between_products(context, {index(2)}, index(70), index(9), 4, true));
  add(testing::rows_between_products(context, {index(2)}, index(200), index(64), 16, false));
  add(testing::attention(context, index(2), index(5), n));
  add(scaled_blocks(context));
  add(chained(context));
  add(testing::spatial(context, n, index(3), index(4), index(5)));
  add(testing::matmul_of_bytes(context, index(6), index(35), index(24)), true);
  add(testing::matmul_of_bytes(context, index(6), index(35), index(13)), true);
  add(many_results(context, 34));  // two sections
  add(filtered(context));
  add(testing::wide_matmul(context, n, index(11), index(6), DType::bf16(), DType::bf16(), DType::f(32)), true);
  return all;
}

/// The kernel after these steps; nothing if they are refused.
std::optional<Case> replayed(arith::Context& context, const Case& from, const std::string& steps,
                             std::vector<schedule::PackedParam>& packed, std::string* reason = nullptr) {
  Sources sources;
  Diagnostics diag;
  const SourceFile* file = sources.add_file("steps", steps);
  Case made = from;
  packed.clear();
  if (!schedule::replay_kernel(context, made.kernel, from.constants, packed, {},
                               {file, 0, static_cast<uint32_t>(steps.size())}, sources, diag)) {
    if (reason != nullptr) *reason = render(diag);
    return {};
  }
  return made;
}

/// Whole numbers stay, but for those that Winograd's algorithm made of thirds, and powers.
bool same(const std::vector<std::byte>& a, const std::vector<std::byte>& b, bool exact) {
  if (exact || a.size() != b.size()) return a == b;
  for (size_t i = 0; i + 4 <= a.size(); i += 4) {
    float x = 0, y = 0;
    std::memcpy(&x, a.data() + i, 4), std::memcpy(&y, b.data() + i, 4);
    if (std::abs(x - y) > 0.01F) return false;
  }
  return true;
}

/// The same numbers as before, where they can be computed.
void check_equivalent(const Case& before, const Case& after, const std::vector<schedule::PackedParam>& packed) {
  Contents data = whole_numbers(before.kernel), now = memory_after(after.kernel, data, packed),
           then = memory_after(before.kernel, data, {});
  const std::string steps = after.kernel.schedule.steps;
  const bool exact = steps.find("winograd") == std::string::npos && steps.find("online_softmax") == std::string::npos;
  bool all = true;
  for (size_t i = 0; i < now.size(); ++i) all &= now[i].empty() || same(now[i], then[i], exact);
  INFO(steps << "\n" << tir::to_string(after.kernel));
  REQUIRE(all);
}

std::string trace_of(arith::Context& context, const Case& from, const Target& target) {
  Case made = from;
  std::vector<schedule::PackedParam> packed;
  bool fits = schedule::schedule_kernel(context, made.kernel, target, from.constants, packed);
  return fits ? made.kernel.schedule.steps : "";
}

TEST_CASE("a trace that is applied again gives the same kernel") {
  arith::Context context;
  int asked = 0;
  for (const Target& target :
       {testing::wide_target(), testing::narrow_target(), with_dots(), with_matrices(), with_pairs(), with_lane_sums()})
    for (const Case& one : cases(context)) {
      if (asked++ % testing::stride() != 0) continue;
      Case made = one;
      std::vector<schedule::PackedParam> packed, again_packed;
      if (!schedule::schedule_kernel(context, made.kernel, target, one.constants, packed)) continue;
      const std::string steps = made.kernel.schedule.steps;
      std::string reason;
      const std::optional<Case> again = replayed(context, one, steps, again_packed, &reason);
      INFO(reason << steps);
      REQUIRE(again.has_value());
      CHECK(tir::to_string(again->kernel) == tir::to_string(made.kernel));
      REQUIRE(again_packed.size() == packed.size());
      for (size_t i = 0; i < packed.size(); ++i)
        CHECK(again_packed[i].packing.description() == packed[i].packing.description());
      check_equivalent(one, *again, again_packed);
    }
}

TEST_CASE("every plan of an explanation has an estimate in cycles") {
  arith::Context context;
  Target scalar;
  scalar.vector_bits = 0;
  std::set<std::string_view> planned;
  for (const Target& target : {testing::wide_target(), testing::narrow_target(), with_dots(), with_matrices(), scalar})
    for (const Case& one : cases(context)) {
      Case made = one;
      std::vector<schedule::PackedParam> packed;
      schedule::KernelExplanation explanation;
      schedule::schedule_kernel(context, made.kernel, target, one.constants, packed, {}, {}, &explanation);
      for (const schedule::PartExplanation& part : explanation.parts)
        for (const schedule::Considered& asked : part.considered) {
          INFO(one.kernel.name << ": " << asked.strategy << ": " << asked.plan << ", " << asked.cycles);
          CHECK((asked.plan.empty() || (asked.cycles > 0 && std::isfinite(asked.cycles))));
          if (!asked.plan.empty()) planned.insert(asked.strategy);
        }
    }
  CHECK(planned.size() >= 15);  // so that few strategies are left without
}

/// The end of docs/schedules.md.
std::string table_of_steps() {
  std::string text = "| step | arguments | |\n|---|---|---|\n";
  for (const schedule::StepInfo& primitive : schedule::primitives()) {
    std::string arguments(primitive.arguments);
    for (size_t at = 0; (at = arguments.find('|', at)) != std::string::npos; at += 2) arguments.insert(at, "\\");
    text += "| `" + std::string(primitive.name) + "` | " + (arguments.empty() ? "" : "`" + arguments + "`") + " | " +
            std::string(primitive.doc) + " |\n";
  }
  return text;
}

TEST_CASE("the page of schedules lists the primitives") {
  const std::string path = std::string(RELAXC_SOURCE_DIR) + "/docs/schedules.md";
  std::string page;
  {
    std::ifstream file(path);
    page.assign(std::istreambuf_iterator<char>(file), {});
  }
  const size_t begin = page.find("| step |");
  REQUIRE(begin != std::string::npos);
  if (std::getenv("RELAXC_UPDATE") != nullptr) {
    page = page.substr(0, begin) + table_of_steps();
    std::ofstream(path) << page;
  }
  INFO("RELAXC_UPDATE=1 unit_schedule rewrites the table in " << path);
  CHECK(page.substr(begin) == table_of_steps());
}

TEST_CASE("a step is read by the name that it had in an earlier version") {
  CHECK(schedule::current_step_name("contract") == "scalar_replace");
  CHECK(schedule::current_step_name("split") == "split");
  CHECK(schedule::changes_bits("nest [sum]; minimal_filter sum 4 1 2 fma; whole"));
  CHECK(to_string(*schedule::parse_step("minimal_filter sum 4 1 2 fma")) == "winograd sum 4 1 2 0 fma 4096 16");
  CHECK(to_string(*schedule::parse_step("nest [sum]")) == "focus_nests [sum]");
  CHECK(to_string(*schedule::parse_step("section 0 2")) == "focus_statements 0 2");
  CHECK(to_string(*schedule::parse_step("whole")) == "unfocus");
  CHECK(to_string(*schedule::parse_step("pool_rows y 3")) == "pool_rows y 3 0");
  CHECK(to_string(*schedule::parse_step("split_overlapped i 8")) == "split_overlapped i 8 0");
  CHECK(to_string(*schedule::parse_step("widen_bytes x i0_i")) == "widen_bytes x [i0_i]");
  CHECK(to_string(*schedule::parse_step("winograd sum 4 1 2 64 -")) == "winograd sum 4 1 2 64 - 4096 16");
  CHECK_FALSE(schedule::changes_bits("row_blocks 8; share block 4"));
  for (const schedule::StepInfo& one : schedule::primitives()) CHECK(schedule::current_step_name(one.name) == one.name);
}

using Random = std::mt19937;

template <typename T>
const T& any_of(const std::vector<T>& all, Random& random) {
  return all[random() % all.size()];
}

struct Names {
  std::vector<std::string> loops, blocks, buffers;
};
Names names_in(const Tree& s) {
  Names names;
  tir::for_each_stmt(s.root(), [&](tir::Stmt stmt) {
    if (const auto* loop = stmt.as<tir::For>()) names.loops.push_back(loop_name(s, loop->id));
    if (const auto* block = stmt.as<tir::Block>()) names.blocks.push_back(block_name(s, block->id));
    if (const auto* store = stmt.as<tir::Store>()) {
      names.buffers.push_back(buffer_name(s, store->buffer));
      for (Expr e : tir::expressions(stmt))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* load = node.as<arith::Load>()) names.buffers.push_back(buffer_name(s, load->buffer));
        });
    }
  });
  return names;
}

/// Any argument of that kind, by its word in the table.
std::string random_argument(const std::string& word, const Names& names, Random& random) {
  auto list = [&](const std::vector<std::string>& of) {
    std::vector<std::string> picked = of;
    std::shuffle(picked.begin(), picked.end(), random);
    if (random() % 2 == 0) {  // loops that stand side by side
      picked = of;
      picked.erase(picked.begin(), picked.begin() + static_cast<std::ptrdiff_t>(random() % picked.size()));
      if (random() % 2 == 0) std::reverse(picked.begin(), picked.end());
    }
    picked.resize(std::min(picked.size(), size_t{1} + random() % 3));
    std::string text;
    for (const std::string& name : picked) text += (text.empty() ? "" : ", ") + name;
    return "[" + text + "]";
  };
  auto choice = [&](const std::string& one, const std::string& other) { return random() % 2 == 0 ? one : other; };
  if (word == "LOOPS" || word == "SPATIAL" || word == "REDUCED" || word == "AXES") return list(names.loops);
  if (word == "BLOCKS") return list(names.blocks);
  if (word == "ORDER") return list({"0", "1", "2"});
  if (word == "SIZES") return list({"1", "3", "4", "8"});
  if (word == "BLOCK") return any_of(names.blocks, random);
  if (word == "BUFFER") return any_of(names.buffers, random);
  if (word == "LOOP|-") return choice("-", any_of(names.loops, random));
  for (const char* loop : {"LOOP", "OUTER", "INNER", "ROW", "FIRST", "SECOND"})
    if (word == loop) return any_of(names.loops, random);
  if (size_t bar = word.find('|'); bar != std::string::npos) return choice(word.substr(0, bar), word.substr(bar + 1));
  static const std::vector<std::string> kNumbers{"0", "1", "2", "3", "4", "8", "16", "64"};
  return any_of(kNumbers, random);
}

std::string random_step(const Tree& s, Random& random) {
  const Names names = names_in(s);
  const schedule::StepInfo& primitive = schedule::primitives()[random() % schedule::primitives().size()];
  std::string step(primitive.name);
  if (names.loops.empty() || names.blocks.empty() || names.buffers.empty()) return "unfocus";
  const std::vector<std::string_view> words = *schedule::words_of(primitive.arguments);
  for (std::string_view word : words) step += " " + random_argument(std::string(word), names, random);
  return step;
}

/// Does what can be done of `steps`, and tells how many that are.
size_t do_what_fits(Tree& s, const std::vector<std::string>& steps) {
  size_t done = 0;
  for (const std::string& step : steps) {
    INFO(step << "\n" << tir::to_string(s.root()));
    if (schedule::apply_text(s, step)) ++done;
  }
  return done;
}

constexpr uint32_t kSeeds = testing::sample(240, 8);

TEST_CASE("random steps after a part of a trace are refused or keep what the kernel computes") {
  arith::Context context;
  const std::vector<Case> all = cases(context);
  std::vector<std::vector<std::string>> traces(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string text = trace_of(context, all[i], machine(i));
    for (const schedule::StepText& step : schedule::steps_of(text)) traces[i].emplace_back(step.text);
  }
  size_t kept = 0, refused = 0;
  for (uint32_t seed = 0; seed < std::max<size_t>(kSeeds, all.size()); ++seed) {  // each kernel at least once
    Random random(seed);
    const size_t which = seed % all.size();
    const std::vector<std::string>& trace = traces[which];
    Tree s(context, all[which].kernel.body, {}, all[which].constants, true);
    const size_t prefix = random() % (trace.size() + 1);
    std::string steps;
    do_what_fits(s, {trace.begin(), trace.begin() + static_cast<std::ptrdiff_t>(prefix)});
    for (int i = 0; i < 40; ++i) do_what_fits(s, {random_step(s, random)}) == 1 ? ++kept : ++refused;
    do_what_fits(s, {trace.begin() + static_cast<std::ptrdiff_t>(prefix), trace.end()});
    INFO("seed " << seed << ": " << to_string(s.trace()));
    std::vector<schedule::PackedParam> packed;
    if (auto made = replayed(context, all[which], to_string(s.trace()), packed))
      check_equivalent(all[which], *made, packed);
  }
  INFO(kept << " steps were done, " << refused << " were refused");
  CHECK(kept > kSeeds * 10 / 3);
}

TEST_CASE("a trace with one change is refused or keeps what the kernel computes") {
  arith::Context context;
  const std::vector<Case> all = cases(context);
  size_t kept = 0;
  constexpr uint32_t kEdits = testing::sample(200);
  for (uint32_t seed = 0; seed < kEdits; ++seed) {
    Random random(seed);
    const Case& one = all[seed % all.size()];
    const std::string text = trace_of(context, one, machine(seed));
    std::vector<std::string> steps;
    for (const schedule::StepText& step : schedule::steps_of(text)) steps.emplace_back(step.text);
    if (steps.empty()) continue;  // the kernel stays as it is on this machine
    const size_t at = random() % steps.size(), other = random() % steps.size();
    switch (random() % 4) {
      case 0:
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        std::swap(steps[at], steps[other]);
        break;
      case 2:
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), steps[other]);
        break;
      default:
        for (char& c : steps[at])
          if (c >= '1' && c <= '9' && random() % 2 == 0) c = static_cast<char>('1' + random() % 9);
    }
    std::string edited;
    for (const std::string& step : steps) edited += step + "\n";
    INFO("seed " << seed << ":\n" << edited);
    std::vector<schedule::PackedParam> packed;
    if (auto made = replayed(context, one, edited, packed)) check_equivalent(one, *made, packed), ++kept;
  }
  CHECK(kept > kEdits / 10);
}

TEST_CASE("rules and tests use every primitive, so that each is read back from what it wrote") {
  arith::Context context;
  std::set<std::string_view> unused;
  for (const schedule::StepInfo& primitive : schedule::primitives()) unused.insert(primitive.name);
  for (const Target& target :
       {testing::wide_target(), testing::narrow_target(), with_dots(), with_matrices(), with_pairs(), with_lane_sums()})
    for (const Case& one : cases(context)) {
      const std::string text = trace_of(context, one, target);
      for (const schedule::StepText& step : schedule::steps_of(text))
        unused.erase(std::string_view(step.text.substr(0, step.text.find(' '))));
    }
  // What no rule does by itself.
  const std::pair<tir::PrimFunc, const char*> steps[] = {
      {chained(context), "inline t"},
      {testing::pool_of_map(context, context.index(2), {.h = 10, .w = 9, .kernel = 3}, false),
       "fused_conv_pool_tiling 2"},
      {chained(context), "focus_nests [t]; bind_axes; split i1 4 masked; vectorize i1_i; prefetch i1_i 64; unfocus"},
      {chained(context), "focus_nests [t]; bind_axes; prefetch_iterations i0 3; unfocus"},
      {chained(context), "focus_nests [t]; bind_axes; split_overlapped i1 4 0; vectorize i1_i; unfocus"},
      {chained(context), "compute_at t i1#2"},
      {chained(context), "bind_axes; pad_to i0 4"},
      {filtered(context), "compute_at row i0#2"},
      {filtered(context), "compute_at row i1#2"},
      {filtered(context), "bind_axes; cache_read row i0#2"},
      {filtered(context), "bind_axes; tile [i0#2, i1#2] [2, 8]; cache_read row i0_i; cache_write y i1_i"},
      {testing::matmul(context, {}, context.index(9), context.index(33), context.index(7), false, false),
       "decompose_reduction y k0; bind_axes; cache_write y i0; cache_read weight i1"},
      {testing::matmul(context, {}, context.index(9), context.index(33), context.index(7), false, false),
       "decompose_reduction y k0; bind_axes; scalar_replace y i1 store; block_sum i1 k0 3"},
  };
  for (const auto& [kernel, text] : steps) {
    std::vector<schedule::PackedParam> packed;
    std::string reason;
    const std::optional<Case> made = replayed(context, {kernel, {}}, text, packed, &reason);
    INFO(reason << text << "\n" << tir::to_string(kernel));
    REQUIRE(made.has_value());
    CHECK(made->kernel.schedule.steps == text);
    check_equivalent({kernel, {}}, *made, packed);
    for (const schedule::StepText& step : schedule::steps_of(text))
      unused.erase(std::string_view(step.text.substr(0, step.text.find(' '))));
  }
  std::string names;
  for (std::string_view name : unused) names += std::string(name) + " ";
  CHECK(names == "");
}

TEST_CASE("a step that cannot be done says why, and where") {
  arith::Context context;
  const Case one = cases(context)[0];
  auto reason = [&](const std::string& steps) {
    std::vector<schedule::PackedParam> packed;
    std::string text = "done";
    replayed(context, one, steps, packed, &text);
    return text;
  };
  auto says = [](const std::string& what) { return Catch::Matchers::Contains(what); };
  CHECK_THAT(reason("focus_nests [product]\nsplit q 4 peeled"),
             says("steps:2:1: error: kernel 'matmul': there is no loop 'q' "
                  "here; the loops are i0, i1, k0"));
  CHECK_THAT(reason("spilt i0 4 peeled"), says("there is no primitive 'spilt'; the primitives are bind_axes, "));
  CHECK_THAT(reason("split i0 4"), says("'split' has 3 arguments, found 2: split LOOP FACTOR masked|peeled"));
  CHECK_THAT(reason("split i0 four peeled"), says("'four' should be a whole number"));
  CHECK_THAT(reason("split i0 0 peeled"), says("a loop is split by a number of at least 1"));
  CHECK_THAT(reason("split i0 4 cut"), says("'cut' should be 'masked' or 'peeled'"));
  CHECK_THAT(reason("reorder i0"), says("'i0' should be a list: [a, b]"));
  CHECK_THAT(reason("vectorize k0"),
             says("iterations of loop 'k0' depend on each other: one may need what another one stores"));
  CHECK_THAT(reason("parallel k0"), says("iterations of loop 'k0' depend on each other"));
  CHECK_THAT(reason("focus_nests [product, nothing]"),
             says("there is no block 'nothing' here; the blocks are product, y"));
  CHECK_THAT(reason("focus_nests [product"), says("a quote or a bracket is not closed"));
  CHECK_THAT(reason("pack x 0 4 [1]"), says("x is not a constant at every call of the kernel"));
  CHECK(reason("# nothing at all\n  \n;;") == "done");
}

}  // namespace
}  // namespace relaxc
