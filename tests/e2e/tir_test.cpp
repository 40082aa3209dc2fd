// tir_test.cpp: prim funcs as programs write them, the whole way through both backends.
#include <sys/mman.h>

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/e2e/compile_and_run.h"

namespace relaxc::e2e {
namespace {

TEST_CASE("loops are left and skipped, lanes and parts are stored, C functions are called") {
  CompiledProgram program("tests/e2e/programs/tir_control.relax");
  std::vector<double> x{1, 2, 3, 4, 60, 5};
  std::vector<double> y = values_of(program.run({tensor(DType::f(32), {6}, x)})[0]);
  auto row = [&](size_t i) { return std::vector<double>(y.begin() + i * 8, y.begin() + i * 8 + 8); };
  CHECK(row(0) == std::vector<double>{1, 2, 0, 4, 0, 'r', 'o', 'w'});
  CHECK(row(1) == std::vector<double>{0, 1, 0, 0, 4, 0, 0, 7});
  CHECK(row(2) == std::vector<double>{0, 1, 1, 0, 1, 1, 0, 0});
  CHECK(row(3) == std::vector<double>{1, 0, 3, 0, 5, 0, 7, 0});
  CHECK(row(4) == std::vector<double>{4, 4, 4, 4, 0, 4, 4, 4});
  CHECK(row(5) == std::vector<double>{2, 2, 0, 6, 0, 10, 0, 14});
  CHECK(row(6) == std::vector<double>{0, -1, 1, -1, 2, -1, 3, -1});
  CHECK(row(7) == std::vector<double>{2, 3, 4, 5, 4, 0, 9, 9});
}

TEST_CASE("an assertion that fails leaves with its code") {
  CompiledProgram program("tests/e2e/programs/tir_assert.relax");
  CHECK(values_of(program.run({tensor(DType::f(32), {4}, {1, 1, 1, 1})})[0]) == std::vector<double>(4, 0));
  CHECK_THAT(program.refusal({tensor(DType::f(32), {4}, {1, 1, -1, 1})}), Catch::Contains("ASSERTION"));
}

/// A page of float32 between two that must not be touched.
class FencedPage {
 public:
  static constexpr size_t kBytes = 4096, kElements = kBytes / sizeof(float);

  FencedPage() : pages_(mmap(nullptr, 3 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(pages_ != MAP_FAILED);
    REQUIRE(mprotect(data(), kBytes, PROT_READ | PROT_WRITE) == 0);
  }
  ~FencedPage() { munmap(pages_, 3 * kBytes); }
  FencedPage(const FencedPage&) = delete;
  float* data() const { return reinterpret_cast<float*>(static_cast<std::byte*>(pages_) + kBytes); }

 private:
  void* pages_;
};

TEST_CASE("an arm that is not taken reads nothing, whatever else its operands are needed for") {
  for (const char* level : {"0", "2"}) {
    api::CompileOptions options;
    options.opt = level;
    CompiledProgram program("tests/e2e/programs/tir_arms.relax", options);
    for (const LoadedModel* model : {&program.llvm(), &program.c()}) {
      auto neighbours = reinterpret_cast<int32_t (*)(rlx_context*, float*, float*)>(
          model->symbol(std::string(model->model().name) + "_neighbours"));
      REQUIRE(neighbours != nullptr);
      FencedPage x, y;
      for (size_t i = 0; i < FencedPage::kElements; ++i) x.data()[i] = static_cast<float>(i % 7);
      rlx_context context = RLX_CONTEXT_INIT;
      REQUIRE(neighbours(&context, x.data(), y.data()) == RLX_OK);
      CHECK(y.data()[0] == 1);     // 0 + 1 * 1
      CHECK(y.data()[8] == 3);     // 0 * 0 - 1 + 2 * 2
      CHECK(y.data()[1023] == 0);  // 0 * 0 - 1 + 1
    }
  }
}

TEST_CASE("a prim func takes scratch that symbols size from the arena, and refuses one that is too small") {
  CompiledProgram program("tests/e2e/programs/tir_scratch.relax");
  for (const LoadedModel* model : {&program.llvm(), &program.c()}) {
    std::string name = std::string(model->model().name) + "_mirrored";
    auto call = reinterpret_cast<int32_t (*)(rlx_context*, float*, float*, int64_t)>(model->symbol(name));
    auto size = reinterpret_cast<int32_t (*)(int64_t, uint64_t*)>(model->symbol(name + "_arena_bytes"));
    REQUIRE(call != nullptr);
    REQUIRE(size != nullptr);
    constexpr int64_t kRows = 3;
    uint64_t bytes = 0;
    REQUIRE(size(kRows, &bytes) == RLX_OK);
    CHECK(bytes == 128);  // 96, to a multiple of 64
    CHECK(size(-1, &bytes) == RLX_DIM_BOUNDS);
    alignas(64) std::array<std::byte, 128> arena{};
    std::array<float, kRows * 8> x{}, y{};
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    rlx_context context = RLX_CONTEXT_INIT;
    CHECK(call(nullptr, x.data(), y.data(), kRows) == RLX_NULL_POINTER);
    CHECK(call(&context, x.data(), y.data(), kRows) == RLX_ARENA_SIZE);
    context.arena = arena.data(), context.arena_bytes = arena.size() - 1;
    CHECK(call(&context, x.data(), y.data(), kRows) == RLX_ARENA_SIZE);
    context.arena_bytes = arena.size();
    REQUIRE(call(&context, x.data(), y.data(), kRows) == RLX_OK);
    CHECK(y[0] == 32);   // 2 * x[16] + 2 * x[0]
    CHECK(y[23] == 60);  // 2 * x[7] + 2 * x[23]
  }
}

struct Column {
  size_t at;
  double (*reference)(double x, double y);
};
const Column kColumns[] = {
    {0, [](double x, double) { return std::exp(x); }},
    {1, [](double x, double) { return std::exp2(x); }},
    {2, [](double x, double) { return std::pow(10, x); }},
    {3, [](double x, double) { return std::log(std::fabs(x)); }},
    {4, [](double x, double y) { return std::log2(std::fabs(x)) + std::log10(std::fabs(x)) + 0 * y; }},
    {5, [](double x, double y) { return std::log1p(std::fabs(x)) + std::expm1(y); }},
    {6, [](double x, double) { return std::sqrt(std::fabs(x)) + 1 / std::sqrt(std::fabs(x) + 1); }},
    {7, [](double x, double) { return std::tanh(x) + std::sinh(x) + std::cosh(x); }},
    {9, [](double x, double) { return std::sin(x) + std::cos(x) + std::tan(x); }},
    {11, [](double x, double y) { return std::atan2(x, y) + std::hypot(x, y); }},
    {12, [](double x, double) { return std::erf(x) + 1 / (1 + std::exp(-x)); }},
    {13, [](double x, double y) { return std::pow(std::fabs(x), y) + x * x + x * x * x; }},
    {14, [](double x,
            double y) { return std::floor(x) + std::ceil(x) + std::trunc(x) + std::nearbyint(x) + std::nearbyint(y); }},
    {15,
     [](double x, double y) {
       auto a = static_cast<float>(x), b = static_cast<float>(y);
       return std::fmod(x, y) + std::copysign(x, y) + static_cast<double>(std::nextafter(a, b));
     }},
    {18, [](double, double) { return static_cast<double>(std::numeric_limits<float>::max()); }},
    {19, [](double x, double y) { return std::max(std::min(x, y), 0.5); }},
    {22, [](double x, double) { return (x + 1) * (x + 1); }},
    {23, [](double x, double y) { return std::min(x, y); }},
};

TEST_CASE("scalar functions of prim funcs agree with the C library") {
  CompiledProgram program("tests/e2e/programs/tir_scalars.relax");
  std::vector<double> x, y, a, b;
  for (int i = 0; i < 64; ++i) {
    x.push_back((i - 31) / 8.0 + 1.0 / 16);
    y.push_back((i % 7 - 3) / 2.0 + 0.125);
    a.push_back((i * 37) % 101 - 50);
    b.push_back((i * 11) % 29);
  }
  auto i32 = DType::i(32), f32 = DType::f(32);
  std::vector<HostTensor> found =
      program.run({tensor(f32, {64}, x), tensor(f32, {64}, y), tensor(i32, {64}, a), tensor(i32, {64}, b)});
  std::vector<double> f = values_of(found[0]), n = values_of(found[1]);
  for (const Column& column : kColumns)
    for (size_t i = 0; i < 64; ++i) {
      double wanted = column.reference(x[i], y[i]);
      INFO("column " << column.at << " of " << x[i] << ", " << y[i]);
      CHECK(std::fabs(f[i * 26 + column.at] - wanted) <= 1e-5 * std::max(1.0, std::fabs(wanted)));
    }
  for (size_t i = 0; i < 64; ++i) {
    auto p = static_cast<int32_t>(a[i]), q = static_cast<int32_t>(b[i]);
    int32_t down = p / 3 - (p % 3 < 0), rest = p - down * 3;
    const double* row = &n[i * 18];
    INFO("row " << i);
    CHECK(row[0] == down + rest);
    CHECK(row[1] == p / 3 + p % 3);
    CHECK(row[3] == p * 4 + (q >> 1) + p * 2 + (q >> 2));
    CHECK(row[4] == (p & q) + (p | q) + (p ^ q) + ~p);
    CHECK(row[5] == row[4]);
    CHECK(row[6] == std::popcount(static_cast<uint32_t>(p)) + std::countl_zero(static_cast<uint32_t>(q)));
    CHECK(row[8] == -1);
    CHECK(row[10] == std::bit_cast<int32_t>(static_cast<float>(p)));
    CHECK(row[11] == p * p * p);
    CHECK(row[13] == std::max(p, q));
    CHECK(row[16] == ((int64_t{p} * 1000 * 1395864371 + (int64_t{1} << 32)) >> 33) + (p > 3 ? 1 : 2));
  }
}

TEST_CASE("public prim funcs are called from C as the header declares them") {
  CompiledProgram program("tests/e2e/programs/tir_functions.relax");
  for (auto [model, prefix] : {std::pair(&program.llvm(), std::string("by_llvm_")), {&program.c(), "by_c_"}}) {
    std::vector<float> a(32), b(32), c(16, -1);
    for (size_t i = 0; i < 32; ++i) a[i] = static_cast<float>(i % 5) - 2, b[i] = static_cast<float>(i % 3) - 1;
    using Three = int32_t (*)(rlx_context*, float*, float*, float*);
    auto mm_relu = std::bit_cast<Three>(model->symbol(prefix + "mm_relu"));
    REQUIRE(mm_relu != nullptr);
    REQUIRE(mm_relu(nullptr, a.data(), b.data(), c.data()) == RLX_OK);
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 4; ++j) {
        float sum = 0;
        for (size_t k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 4 + j];
        CHECK(c[i * 4 + j] == std::max(sum, 0.0F));
      }
    using Two = int32_t (*)(rlx_context*, float*, float*);
    auto vector_add = std::bit_cast<Two>(model->symbol(prefix + "vector_add"));
    REQUIRE(vector_add(nullptr, a.data(), b.data()) == RLX_OK);
    for (size_t i = 0; i < 8; ++i) CHECK(b[i] == a[i] + 1);
    using Scaled = int32_t (*)(rlx_context*, float*, float*, float, int32_t, int64_t, int64_t);
    auto scaled = std::bit_cast<Scaled>(model->symbol(prefix + "scaled"));
    REQUIRE(scaled(nullptr, a.data(), b.data(), 0.5F, -3, 1, 5) == RLX_OK);
    for (size_t i = 1; i < 5; ++i) CHECK(b[i] == a[i] * 0.5F - 3);
    CHECK(b[5] == a[5] + 1);
    CHECK(scaled(nullptr, a.data(), b.data(), 0.5F, -3, -1, 5) == RLX_ASSERTION);
  }
}

}  // namespace
}  // namespace relaxc::e2e
