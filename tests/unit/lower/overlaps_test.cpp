// mark_overlaps: results that grow into the memory of an operand while a kernel reads it.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "tests/unit/lower/harness.h"

namespace relaxc::test {
namespace {

/// A machine of 32 bits without vectors, or with vectors of `vector_bits`.
Target small_target(int32_t vector_bits) {
  Target target;
  target.pointer_bits = 32;
  target.vector_bits = vector_bits;
  target.task_slots = 1;
  return target;
}

std::string program_of(const std::vector<int64_t>& dims, const std::string& body, const std::string& result) {
  std::string shape;
  for (int64_t dim : dims) shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
  return "@R.function\ndef main(x: R.Tensor((" + shape + "), \"float32\")):\n" + body + "    return " + result + "\n";
}

TEST_CASE("a padded image, its convolution and a product share their memory in part") {
  const std::string text = program_of({1, 25, 5, 16}, R"(
    a = R.nn.relu(x)
    b = R.nn.pad(a, pad_width=[0, 0, 1, 1, 1, 1, 0, 0], pad_value=0.5)
    c = R.nn.max_pool2d(b, pool_size=[3, 3], strides=[1, 1], padding=[0, 0, 0, 0], layout="NHWC")
    d = R.nn.pad(c, pad_width=[0, 0, 1, 1, 1, 1, 0, 0], pad_value=0.25)
    e = R.nn.max_pool2d(d, pool_size=[3, 3], strides=[1, 1], padding=[0, 0, 0, 0], layout="NHWC")
)",
                                      "e");
  for (int32_t vectors : {0, 128}) {
    const Program program(text, {}, small_target(vectors));
    INFO(program.messages());
    REQUIRE(program.ok());
    INFO(program.text_of("main_call"));
    // An image takes 8,000 bytes and a padded one 12,096; apart, two neighbours take 20,096.
    CHECK(program.arena_bytes({}) < 14'000);
    check_same(program, {floats({1, 25, 5, 16}, -3)});
  }
}

TEST_CASE("a result that is written before its operand is read has memory of its own") {
  for (const char* op : {"R.flip(a, axis=0)", "R.permute_dims(a, [1, 0])", "R.matmul(R.permute_dims(a, [1, 0]), a)",
                         "R.cumsum(R.flip(a, axis=1), axis=0)"}) {
    const Program program(program_of({64, 64},
                                     "    a = R.nn.relu(x)\n    b = " + std::string(op) +
                                         "\n    c = R.flip(b, axis=1)\n    d = R.flip(c, axis=0)\n",
                                     "R.nn.relu(d)"),
                          {}, small_target(0));
    INFO(op << "\n" << program.messages());
    REQUIRE(program.ok());
    check_same(program, {floats({64, 64}, -2)});
  }
}

TEST_CASE("a loop whose length the data decides may read everything after it has stored everything") {
  const Program program(R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def backwards(x: T.Buffer((8, 16), "float32"), count: T.Buffer((1,), "int64"), y: T.Buffer((8, 16), "float32")):
        for i in range(count[0]):
            for j in range(16):
                y[i, j] = x[7 - i, j]

    @R.function
    def main(x: R.Tensor((8, 16), "float32"), count: R.Tensor((1,), "int64")) -> R.Tensor((8, 16), "float32"):
        a = R.nn.relu(x)
        b = R.call_tir(Module.backwards, (a, count), out_sinfo=R.Tensor((8, 16), "float32"))
        return R.nn.relu(R.flip(b, axis=0))
)",
                        {}, small_target(0));
  INFO(program.messages());
  REQUIRE(program.ok());
  HostTensor count = floats({2}, 0);
  count.dtype = DType::i(64), count.shape = {1};
  const int64_t rows = 8;
  std::memcpy(count.bytes.data(), &rows, sizeof rows);
  INFO(program.text_of("backwards"));
  check_same(program, {floats({8, 16}, -3), count});
}

/// Numbers whose sums are exact, since a schedule may change the order of sums.
HostTensor whole_numbers(const std::vector<int64_t>& dims) {
  HostTensor made = floats(dims, -3);
  auto* values = reinterpret_cast<float*>(made.bytes.data());
  for (size_t i = 0; i < made.bytes.size() / sizeof(float); ++i) values[i] = static_cast<float>(i * 37 % 101) - 50;
  return made;
}

/// Returns a chain of operators that change the size of an image, walk through it in different orders, or use it twice.
std::string random_chain(std::mt19937& random, std::vector<int64_t>& dims) {
  dims = {1, 3 + int64_t(random() % 14), 3 + int64_t(random() % 14), 1 + int64_t(random() % 9)};
  std::string body, last = "x";
  const size_t steps = 2 + random() % 6;
  for (size_t i = 0; i < steps; ++i) {
    const std::string name = "v" + std::to_string(i);
    std::string line;
    switch (random() % 9) {
      case 0:
        line = "R.nn.pad(" + last + ", pad_width=[0, 0, 1, 0, 2, 1, 0, 0], pad_value=0.5)";
        break;
      case 1:
        line = "R.nn.max_pool2d(" + last + ", pool_size=[2, 3], strides=[1, 1], padding=[1, 1, 1, 1], layout=\"NHWC\")";
        break;
      case 2:
        line = "R.nn.avg_pool2d(" + last + ", pool_size=[2, 2], strides=[1, 1], padding=[1, 1, 1, 1], layout=\"NHWC\")";
        break;
      case 3:
        line = "R.flip(" + last + ", axis=" + std::to_string(1 + random() % 3) + ")";
        break;
      case 4:
        line = "R.concat((" + last + ", " + last + "), axis=" + std::to_string(1 + random() % 2) + ")";
        break;
      case 5:
        line = "R.strided_slice(" + last + ", axes=[1], begin=[1], end=[100], strides=[" +
               std::to_string(1 + random() % 2) + "])";
        break;
      case 6:
        line = "R.sum(" + last + ", axis=[" + std::to_string(1 + random() % 3) + "], keepdims=True)";
        break;
      case 7:
        line = "R.add(" + last + ", R.flip(" + last + ", axis=2))";
        break;
      default:
        line = "R.permute_dims(" + last + ", [0, 2, 1, 3])";
        break;
    }
    body += "    " + name + " = " + line + "\n";
    last = name;
  }
  return program_of(dims, body, last);
}

TEST_CASE("random chains in as little memory as their kernels allow give the same bits") {
  std::mt19937 random(11);
  size_t compiled = 0;
  for (int round = 0; round < 150; ++round) {
    std::vector<int64_t> dims;
    const std::string text = random_chain(random, dims);
    const Program program(text, {}, small_target(round % 2 == 0 ? 0 : 128));
    if (!program.ok()) continue;  // a slice without rows, a window larger than its image
    INFO(text);
    ++compiled;
    check_same(program, {whole_numbers(dims)});
  }
  CHECK(compiled > 100);
}

}  // namespace
}  // namespace relaxc::test
