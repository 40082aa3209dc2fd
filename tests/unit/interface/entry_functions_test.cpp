// entry_functions_test.cpp: the functions that C calls, run by the interpreter on the records that C would hand over.
#include "compiler/interface/entry_functions.h"

#include <catch2/catch.hpp>

#include "compiler/interface/identifiers.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "relax_rt.h"

namespace relaxc::interface {
namespace {

using arith::Expr;
using arith::Var;

/// `main` stores n and the first of x to y, and the addresses that it was given where the test looks for them.
class Model {
 public:
  Model() {
    Var n = context_.var("n");
    tir::PrimFunc& sizes = functions_[0];
    sizes.name = "sizes";
    tir::BufferRef bytes = b_.buffer("bytes", DType::index(), {b_.index(1)});
    sizes.params = {{nullptr, n}, {bytes, {}}};
    sizes.body = b_.store(bytes, {b_.index(0)}, n * 16);
    body();
    object.name = "m";
    for (const tir::PrimFunc& function : functions_) object.functions.push_back(&function);
    object.weights = {8, 64, true, {}};
    Entry& e = object.entries.emplace_back();
    e.name = "main", e.arena = "sizes", e.call = "body";
    e.arena_max = 160, e.arena_align = 16;
    e.inputs = {tensor("x", {-1})}, e.outputs = {tensor("y", {2})};
    e.symbols = {{"n", 2, 10, 2, 0, 0}};
    e.pools = {{"none", 0}, {"fast", 32}};
    assign_identifiers(object);
  }

  tir::RunStatus run(const tir::PrimFunc& function, std::vector<void*> buffers, std::vector<int64_t> scalars = {}) {
    INFO(tir::to_string(function));
    CHECK(tir::first_fault(function) == "");
    auto find = [&](const std::string& name) -> const tir::PrimFunc* {
      for (const tir::PrimFunc& f : functions_)
        if (f.name == name) return &f;
      return nullptr;
    };
    return tir::make_interpreter(find)->run(function, buffers, scalars);
  }

  Object object;

 private:
  static Tensor tensor(const char* name, std::vector<int64_t> dims) {
    Tensor t;
    t.name = t.identifier = name, t.dtype = DType::f(32), t.dims = std::move(dims);
    t.dim_text.resize(t.dims.size(), "n");
    return t;
  }

  void body() {
    tir::PrimFunc& f = functions_[1];
    f.name = "body";
    Var n = context_.var("n");
    DType f32 = DType::f(32), u8 = DType::u(8);
    tir::BufferRef x = b_.buffer("x", f32, {n}), y = b_.buffer("y", f32, {b_.index(2)});
    auto memory = [&](const char* name) { return b_.buffer(name, u8, {b_.index(INT64_MAX)}); };
    tir::BufferRef arena = memory("arena"), none = memory("none"), fast = memory("fast"), weights = memory("weights");
    tir::BufferRef dims = b_.buffer("out_dims", DType::index(), {b_.index(1)});
    for (tir::BufferRef buffer : {x, y, arena, none, fast, weights, dims}) f.params.push_back({buffer, {}});
    f.params.push_back({nullptr, n});
    Expr first = b_.load(x, {b_.index(0)});
    Expr seen = cast(f32, b_.load(weights, {b_.index(0)}) + b_.load(fast, {b_.index(0)}));
    f.body = b_.seq({b_.store(y, {b_.index(0)}, first + cast(f32, n)), b_.store(y, {b_.index(1)}, seen),
                     b_.store(arena, {b_.index(0)}, cast(u8, b_.load(dims, {b_.index(0)})))});
  }

  arith::Context context_;
  tir::Builder b_{context_};
  std::array<tir::PrimFunc, 2> functions_;
};

struct Call {
  struct Arguments {
    const float* x;
    float* y;
    int64_t n;
  };
  alignas(16) unsigned char arena[160] = {}, fast[32] = {30}, weights[72] = {};
  float x[10] = {0.5f}, y[2] = {};
  rlx_memory_pool pools[2] = {{nullptr, 0}, {fast, sizeof fast}};
  rlx_context context = RLX_CONTEXT_INIT;
  Arguments args{x, y, 4};

  Call() {
    weights[64] = 12;
    context.arena = arena, context.arena_bytes = 64;
    context.weights = weights, context.weights_bytes = sizeof weights;
    context.pools = pools, context.num_pools = 2;
  }
};

/// What the typed call says once `change` has had its way.
template <typename F>
tir::RunStatus after(F change) {
  Model model;
  EntryFunctions made(model.object);
  Call call;
  change(call);
  return model.run(made.run(model.object.entries[0]), {&call.context, &call.args});
}

TEST_CASE("the typed call hands on what the struct of arguments and the context point to") {
  Model model;
  EntryFunctions made(model.object);
  Call call;
  REQUIRE(model.run(made.run(model.object.entries[0]), {&call.context, &call.args}));
  CHECK(call.y[0] == 4.5f);
  CHECK(call.y[1] == 42.0f);
  CHECK(call.arena[0] == 2);
}

TEST_CASE("the typed call says what is wrong before it calls") {
  CHECK(after([](Call& c) { c.args.n = 1; }).code == RLX_DIM_BOUNDS);
  CHECK(after([](Call& c) { c.args.n = 12; }).expected == 10);
  CHECK(after([](Call& c) { c.args.n = 3; }).actual == 3);
  CHECK(after([](Call& c) { c.context.arena = nullptr; }).code == RLX_ARENA_SIZE);
  CHECK(after([](Call& c) { c.context.arena_bytes = 63; }).actual == 63);
  CHECK(after([](Call& c) { c.args.n = 10; }).expected == 160);
  CHECK(after([](Call& c) { c.context.arena = c.arena + 4; }).code == RLX_ARENA_ALIGNMENT);
  CHECK(after([](Call& c) { c.context.num_pools = 1; }).axis == 1);
  CHECK(after([](Call& c) { c.context.pools = nullptr; }).code == RLX_POOL_SIZE);
  CHECK(after([](Call& c) { c.pools[1].bytes = 31; }).actual == 31);
  CHECK(after([](Call& c) { c.pools[1].data = c.fast + 1; }).code == RLX_POOL_ALIGNMENT);
  CHECK(after([](Call& c) { c.context.weights = nullptr; }).code == RLX_WEIGHTS_SIZE);
  CHECK(after([](Call& c) { c.context.weights_bytes = 71; }).expected == 72);
}

TEST_CASE("the typed call needs a context and arguments") {
  Model model;
  EntryFunctions made(model.object);
  Call call;
  const tir::PrimFunc run = made.run(model.object.entries[0]);
  CHECK(model.run(run, {nullptr, &call.args}).code == RLX_NULL_POINTER);
  CHECK(model.run(run, {&call.context, nullptr}).code == RLX_NULL_POINTER);
}

TEST_CASE("the arena's size is asked by dims alone") {
  Model model;
  EntryFunctions made(model.object);
  uint64_t bytes = 0;
  const std::optional<tir::PrimFunc> size = made.arena_bytes(model.object.entries[0]);
  REQUIRE(size);
  CHECK(model.run(*size, {&bytes}, {6}));
  CHECK(bytes == 96);
  CHECK(model.run(*size, {&bytes}, {7}).code == RLX_DIM_BOUNDS);
}

TEST_CASE("the runtime's arrays become parameters") {
  Model model;
  EntryFunctions made(model.object);
  Call call;
  void *inputs[] = {call.x}, *outputs[] = {call.y};
  int64_t symbols[] = {8}, dims[] = {77};
  REQUIRE(model.run(made.call(model.object.entries[0]), {&call.context, inputs, outputs, symbols, dims}));
  CHECK(call.y[0] == 8.5f);
  CHECK(call.y[1] == 42.0f);
  CHECK(call.arena[0] == 77);
}

TEST_CASE("the functions of the tables hand their parameters to the runtime, with scratch and the entry's records") {
  Model model;
  EntryFunctions made(model.object);
  using enum tir::RuntimeFunction;
  for (tir::RuntimeFunction what : {kGenericBind, kGenericOutputShape, kGenericArenaBytes, kGenericRun}) {
    const tir::PrimFunc function = made.generic(model.object.entries[0], what);
    CHECK(tir::first_fault(function) == "");
    CHECK(function.c_function->data.at(0).name == "private");
  }
  const std::string run = tir::to_string(made.generic(model.object.entries[0], kGenericRun));
  INFO(run);
  // A symbol, two dims of tensors, three words for each tensor, and one.
  CHECK(run.find("scratch = T.alloc_buffer((10,), \"uint64\"") != std::string::npos);
  CHECK(run.find("private, scratch, context, in_1, num_in, out, num_out, status=True)") != std::string::npos);
  CHECK(tir::first_fault(made.selftest()) == "");
}

}  // namespace
}  // namespace relaxc::interface
