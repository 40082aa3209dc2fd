// kernels.cpp: how fast single kernels run, as they are defined and as they are scheduled.
//
//   kernels            all of them
//   kernels conv       those whose name begins so
//   kernels -v conv    with the schedules' traces and the scheduled code
//   kernels -w 0 conv  with the most rows of Winograd's algorithm: 4 unless it is said, 2, or 0 for none
//   kernels -c "tile: 12x2; order: rows outside" matmul   with these choices
//   (compiler/schedule/strategies/parts/knobs.h)
//
// Prints microseconds of the processor's time a run (the best of many) and GFLOP/s (GOP/s, of bytes). Both forms run on
// the same data; the largest difference between their results is printed too, relative to the largest result.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <random>

#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/schedule/kernel.h"
#include "compiler/tir/print.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using arith::Expr;

struct Case {
  std::string name;
  tir::PrimFunc kernel;
  double operations;
  std::vector<int64_t> symbols;
};

class Runner {
 public:
  Runner(arith::Context& context, bool verbose, schedule::ScheduleOptions schedule_options, std::string choices)
      : context_(context), verbose_(verbose), schedule_options_(schedule_options), choices_(std::move(choices)) {
    Diagnostics diag;
    auto target = codegen_llvm::resolve_target("", "native", "", diag);
    RELAXC_CHECK(static_cast<bool>(target), "this machine is unknown");
    target_ = *target;
  }

  void run(const Case& c) {
    tir::PrimFunc scheduled = c.kernel;
    std::vector<tir::BufferRef> constants;
    for (const tir::Param& param : c.kernel.params)
      if (param.buffer->name == "weight") constants.push_back(param.buffer);
    std::vector<schedule::PackedParam> packed;
    if (!choices_.empty()) scheduled.schedule.choices = choices_;
    bool fits = schedule::schedule_kernel(context_, scheduled, target_, constants, packed, {}, schedule_options_);
    if (!choices_.empty() && fits) fmt::print("{}\n", *scheduled.schedule.choices);
    if (verbose_ && fits) fmt::print("{}{}\n", scheduled.schedule.steps, tir::to_string(scheduled));
    auto [naive_time, naive] = measure(c.kernel, c, c.kernel, {});
    auto [time, result] = measure(scheduled, c, c.kernel, packed);
    double error = 0, most = 1e-30;
    for (size_t i = 0; i < result.size(); ++i) {
      error = std::max(error, std::abs(static_cast<double>(result[i]) - static_cast<double>(naive[i])));
      most = std::max(most, std::abs(static_cast<double>(naive[i])));
    }
    fmt::print("{:34} {:10.1f} us {:7.1f} GFLOP/s   unscheduled {:10.1f} us {:7.1f}   error {:.1e}\n", c.name, time,
               c.operations / time / 1e3, naive_time, c.operations / naive_time / 1e3, error / most);
  }

 private:
  std::pair<double, std::vector<float>> measure(const tir::PrimFunc& f, const Case& c, const tir::PrimFunc& naive,
                                                const std::vector<schedule::PackedParam>& packed) {
    auto jit = codegen_llvm::make_jit(target_);
    std::mt19937 random(1);
    std::vector<std::vector<float>> memory;
    std::vector<void*> buffers;
    for (const tir::Param& param : naive.params) {
      int64_t count = 1;
      for (Expr dim : param.buffer->shape)
        count *= *arith::evaluate(dim, [&](arith::Var v) {
          for (size_t i = 0; i < f.symbols.size(); ++i)
            if (f.symbols[i] == v) return c.symbols[i];
          return int64_t{1};
        });
      DType dtype = param.buffer->dtype;
      std::vector<float>& one = memory.emplace_back(static_cast<size_t>((count * dtype.bytes() + 3) / 4) + 16);
      auto* data = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(one.data()) + 63) / 64 * 64);
      buffers.push_back(data);
      for (int64_t i = 0; i < count && dtype.is_float(); ++i) data[i] = static_cast<float>(random() % 2001) / 1000 - 1;
      if (dtype.bits == 8)
        for (int64_t i = 0; i < count; ++i) reinterpret_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(random());
    }
    std::vector<void*> plain = buffers;
    for (const schedule::PackedParam& one : packed) pack(f, one, memory, buffers);
    double best = 1e30;
    for (double spent = 0; spent < 3e5;) {
      double before = microseconds();
      jit->run(f, buffers, c.symbols);
      double time = microseconds() - before;
      if (spent > 0 || time > 3e5) best = std::min(best, time);  // the first run is to warm up
      spent += time;
    }
    std::vector<float> results;
    for (size_t i = 0; i < plain.size(); ++i) {
      const float* data = static_cast<const float*>(plain[i]);
      const auto* sums = static_cast<const int32_t*>(plain[i]);
      size_t words = memory[i].size() - 16;
      DType dtype = naive.params[i].buffer->dtype;
      if (dtype == DType::f(32)) results.insert(results.end(), data, data + words);
      if (dtype == DType::i(32)) results.insert(results.end(), sums, sums + words);
    }
    return {best, results};
  }

  static double microseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
  }

  static void pack(const tir::PrimFunc& f, const schedule::PackedParam& one, std::vector<std::vector<float>>& memory,
                   std::vector<void*>& buffers) {
    for (size_t i = 0; i < f.params.size(); ++i) {
      if (f.params[i].buffer != one.packed) continue;
      size_t bytes = (memory[i].size() - 16) * sizeof(float);
      auto element = static_cast<int64_t>(one.param->dtype.bytes());
      auto packed = one.packing.apply({static_cast<const std::byte*>(buffers[i]), bytes}, element);
      std::vector<float>& kept = memory.emplace_back(packed.size() / sizeof(float) + 16);
      buffers[i] = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(kept.data()) + 63) / 64 * 64);
      std::memcpy(buffers[i], packed.data(), packed.size());
    }
  }

  arith::Context& context_;
  bool verbose_;
  schedule::ScheduleOptions schedule_options_;
  std::string choices_;
  Target target_;
};

/// Collects kernels with the arithmetic operations of each.
class Cases {
 public:
  explicit Cases(arith::Context& context) : context_(context) {}

  void add(std::string name, tir::PrimFunc kernel, double operations, std::vector<int64_t> symbols = {}) {
    list.push_back({std::move(name), std::move(kernel), operations, std::move(symbols)});
  }
  void matmul(int64_t m, int64_t n, int64_t k, bool transposed = false);
  void symbolic_matmul(int64_t m, int64_t n, int64_t k);
  void conv(testing::ConvShape g);
  void matmul_of_bytes(int64_t m, int64_t n, int64_t k);
  void conv_of_bytes(int64_t c, int64_t h, int64_t out, int64_t kernel, int64_t stride, bool depthwise);

  std::vector<Case> list;

 private:
  Expr index(int64_t value) { return context_.index(value); }

  arith::Context& context_;
};

void Cases::matmul(int64_t m, int64_t n, int64_t k, bool transposed) {
  add(fmt::format("matmul {}x{}x{}{}", m, n, k, transposed ? " transposed" : ""),
      testing::matmul(context_, {}, index(m), index(n), index(k), transposed, true),
      2.0 * static_cast<double>(m * n * k));
}

void Cases::symbolic_matmul(int64_t m, int64_t n, int64_t k) {
  Expr rows = context_.var("m"), columns = context_.var("n"), depth = context_.var("k");
  tir::PrimFunc kernel = testing::matmul(context_, {}, rows, columns, depth, false, true);
  std::vector<int64_t> symbols;
  for (arith::Var v : kernel.symbols) symbols.push_back(v.name() == "m" ? m : v.name() == "n" ? n : k);
  add(fmt::format("matmul {}x{}x{} symbolic", m, n, k), std::move(kernel), 2.0 * static_cast<double>(m * n * k),
      std::move(symbols));
}

void Cases::conv(testing::ConvShape g) {
  auto places = [&](int64_t dim) { return (dim + 2 * g.pad - g.dilation * (g.kernel - 1) - 1) / g.stride + 1; };
  std::string name = fmt::format("conv {}->{} {}x{}/{} at {}", g.c, g.out, g.kernel, g.kernel, g.stride, g.h);
  if (g.w != g.h) name += fmt::format("x{}", g.w);
  if (g.groups > 1) name += fmt::format(" in {} groups", g.groups);
  const int64_t products = g.out * places(g.h) * places(g.w) * g.c / g.groups * g.kernel * g.kernel;
  add(std::move(name), testing::conv(context_, g, true), 2.0 * static_cast<double>(products));
}

void Cases::matmul_of_bytes(int64_t m, int64_t n, int64_t k) {
  add(fmt::format("int8 matmul {}x{}x{}", m, n, k), testing::matmul_of_bytes(context_, index(m), index(n), index(k)),
      2.0 * static_cast<double>(m * n * k));
}

void Cases::conv_of_bytes(int64_t c, int64_t h, int64_t out, int64_t kernel, int64_t stride, bool depthwise) {
  const int64_t side = (h - kernel) / stride + 1;
  add(fmt::format("int8 conv {}->{} {}x{}/{} at {}{}", c, out, kernel, kernel, stride, h,
                  depthwise ? " depthwise" : ""),
      testing::conv_of_bytes(context_, c, h, out, kernel, stride, depthwise),
      2.0 * static_cast<double>(side * side * out * (depthwise ? 1 : c) * kernel * kernel));
}

std::vector<Case> cases(arith::Context& context) {
  Cases all(context);
  all.matmul(128, 768, 768), all.matmul(784, 128, 1152), all.matmul(512, 512, 512), all.matmul(49, 512, 4608);
  all.matmul(128, 3072, 768), all.matmul(128, 768, 3072), all.matmul(196, 256, 2304), all.matmul(1024, 1024, 1024);
  all.matmul(1, 1024, 1024), all.matmul(1, 10, 256), all.matmul(64, 256, 784), all.matmul(1, 1024, 1024, true);
  all.matmul(128, 768, 768, true), all.symbolic_matmul(128, 768, 768);
  const testing::ConvShape convolutions[] = {
      {.c = 64, .h = 56, .w = 56, .out = 64},
      {.c = 128, .h = 28, .w = 28, .out = 128},
      {.c = 256, .h = 14, .w = 14, .out = 256},
      {.c = 512, .h = 7, .w = 7, .out = 512},
      {.c = 32, .h = 450, .w = 60, .out = 32},
      {.c = 32, .h = 225, .w = 30, .out = 32},
      {.c = 64, .h = 224, .w = 224, .out = 64},
      {.c = 64, .h = 224, .w = 224, .out = 32},
      {.c = 512, .h = 28, .w = 28, .out = 512},
      {.c = 3, .h = 224, .w = 224, .out = 64, .kernel = 7, .stride = 2, .pad = 3},
      {.c = 64, .h = 56, .w = 56, .out = 256, .kernel = 1, .pad = 0},
      {.c = 384, .h = 14, .w = 14, .out = 96, .kernel = 1, .pad = 0},
      {.c = 384, .h = 16, .w = 16, .out = 96, .kernel = 1, .pad = 0},
      {.c = 1024, .h = 14, .w = 14, .out = 256, .kernel = 1, .pad = 0},
      {.c = 512, .h = 7, .w = 7, .out = 2048, .kernel = 1, .pad = 0},
      {.c = 32, .h = 112, .w = 112, .out = 32, .groups = 32},
      {.c = 512, .h = 14, .w = 14, .out = 512, .groups = 512},
      {.c = 1, .h = 28, .w = 28, .out = 8, .kernel = 5, .pad = 2},
      {.c = 128, .h = 56, .w = 56, .out = 128, .stride = 2},
  };
  for (const testing::ConvShape& shape : convolutions) all.conv(shape);
  all.matmul_of_bytes(128, 768, 768), all.matmul_of_bytes(784, 128, 1152), all.matmul_of_bytes(512, 512, 512);
  all.matmul_of_bytes(49, 512, 4608), all.matmul_of_bytes(1, 4096, 4096);
  all.conv_of_bytes(64, 58, 64, 3, 1, false), all.conv_of_bytes(128, 30, 128, 3, 1, false);
  all.conv_of_bytes(256, 16, 256, 3, 1, false), all.conv_of_bytes(512, 9, 512, 3, 1, false);
  all.conv_of_bytes(4, 225, 32, 3, 2, false), all.conv_of_bytes(32, 114, 32, 3, 1, true);
  all.conv_of_bytes(512, 16, 512, 3, 1, true);
  const auto index = [&](int64_t value) { return context.index(value); };
  all.add("rows 512x768", testing::rows(context, index(512), index(768)), 3.0 * 512 * 768);
  all.add("spatial 1x64x56x56", testing::spatial(context, index(1), index(64), index(56), index(56)),
          3.0 * 64 * 56 * 56);
  return std::move(all.list);
}

int run(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  bool verbose = false;
  schedule::ScheduleOptions schedule_options;
  std::string choices;
  while (!words.empty() && words[0].size() == 2 && words[0][0] == '-') {
    size_t taken = words[0] == "-v" ? 1 : 2;
    if (words.size() < taken) break;
    if (words[0] == "-v") verbose = true;
    if (words[0] == "-w") schedule_options.winograd = std::stoll(words[1]);
    if (words[0] == "-c") choices = words[1];
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  arith::Context context;
  Runner runner(context, verbose, schedule_options, choices);
  for (const Case& c : cases(context))
    if (words.empty() || c.name.rfind(words[0], 0) == 0) runner.run(c);
  return 0;
}

}  // namespace
}  // namespace relaxc

int main(int count, char** arguments) {
  return relaxc::run(count, arguments);
}
