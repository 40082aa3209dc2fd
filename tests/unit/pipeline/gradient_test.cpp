// gradient_test.cpp: the gradient of each operator, against differences of the function itself in float64.
//
// Every case is an expression of x (and y): the loss is the sum of sin of its elements, so that each element gets
// another derivative. A central difference with step h has an error of h^2 times a third derivative plus the rounding
// of the loss divided by h: with h = 1e-5 both are below 1e-9 for the functions here, next to which 1e-6 is generous.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "compiler/equivalence/outcome.h"
#include "tests/unit/pipeline/harness.h"

using namespace relaxc;
using relax::HostTensor;
using test::passes;
using test::Program;

namespace {

struct Case {
  std::string expression;
  std::string x = "2, 3", y = "2, 3";
  double low = -1.5, high = 1.5;
  std::map<std::string, int64_t> dims = {};
  std::string before = {};  ///< statements, for what is no expression
};

std::string program_of(const Case& one) {
  const std::string f64 = ", \"float64\")";
  const std::string indent(one.before.empty() ? 8 : 4, ' ');
  auto statement = [&](const std::string& text) { return indent + text + "\n"; };
  std::string program = "@R.function\ndef main(x: R.Tensor((" + one.x + (one.x.empty() ? ")" : ",)") + f64 +
                        ", y: R.Tensor((" + one.y + (one.y.empty() ? ")" : ",)") + f64 +
                        "):\n    R.func_attr({\"gradient\": [\"x\", \"y\"]})\n";
  program += one.before.empty() ? "    with R.dataflow():\n" : one.before;
  program += statement("z = " + one.expression) + statement("w = R.sin(z)") + statement("loss = R.sum(w)");
  if (one.before.empty()) program += statement("R.output(loss)");
  return program + "    return loss\n";
}

/// Returns the dims of "n, 3", with the case's numbers for names.
std::vector<int64_t> dims_of(const Case& one, const std::string& text) {
  std::vector<int64_t> dims;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, end - at);
    word.erase(0, word.find_first_not_of(' '));
    if (word[0] == '"') word = word.substr(1, word.size() - 2);
    auto named = one.dims.find(word);
    dims.push_back(named == one.dims.end() ? std::stoll(word) : named->second);
    at = end + 1;
  }
  return dims;
}

HostTensor random_tensor(std::vector<int64_t> shape, double low, double high, uint64_t& state) {
  HostTensor made{DType::f(64), std::move(shape), {}};
  made.bytes.resize(static_cast<size_t>(made.elements()) * sizeof(double));
  for (size_t i = 0; i < made.bytes.size(); i += sizeof(double)) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double value = low + (high - low) * static_cast<double>(state >> 11) / 9007199254740992.0;
    std::memcpy(made.bytes.data() + i, &value, sizeof value);
  }
  return made;
}

double element(const HostTensor& tensor, size_t index) {
  double value = 0;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof value, sizeof value);
  return value;
}

std::vector<HostTensor> run(Program& program, const std::string& function, const std::vector<HostTensor>& inputs) {
  relax::Function* found = program.module().find_function(function);
  REQUIRE(found != nullptr);
  equivalence::Outcome outcome = equivalence::interpret(program.module(), program.ops(), *found, inputs, {});
  if (const auto* fault = std::get_if<relax::RunFault>(&outcome)) FAIL(fault->text);
  return std::get<std::vector<HostTensor>>(outcome);
}

void check_case(const Case& one) {
  INFO(program_of(one));
  Program program(program_of(one));
  program.run(passes({"infer", "gradient", "dead_code"}));
  uint64_t state = 7;
  std::vector<HostTensor> inputs{random_tensor(dims_of(one, one.x), one.low, one.high, state),
                                 random_tensor(dims_of(one, one.y), one.low, one.high, state)};
  const std::vector<HostTensor> adjoint = run(program, "main_adjoint", inputs);
  REQUIRE(adjoint.size() == 3);
  CHECK(adjoint[0] == run(program, "main", inputs)[0]);
  for (size_t k = 0; k < inputs.size(); ++k) {
    REQUIRE(adjoint[k + 1].shape == inputs[k].shape);
    for (size_t i = 0; i < static_cast<size_t>(inputs[k].elements()); ++i) {
      const double h = 1e-5, at = element(inputs[k], i);
      double sides[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<HostTensor> moved = inputs;
        const double value = at + (side == 0 ? -h : h);
        std::memcpy(moved[k].bytes.data() + i * sizeof value, &value, sizeof value);
        sides[side] = element(run(program, "main", moved)[0], 0);
      }
      const double expected = (sides[1] - sides[0]) / (2 * h);
      INFO("input " << k << ", element " << i);
      CHECK(element(adjoint[k + 1], i) == Approx(expected).epsilon(1e-6).margin(1e-6));
    }
  }
}

void check_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) check_case(one);
}

Case unary(const std::string& call, double low = -1.5, double high = 1.5) {
  return {"R.multiply(y, " + call + ")", "2, 3", "2, 3", low, high};
}

}  // namespace

TEST_CASE("gradients of element-wise functions are their derivatives") {
  for (const char* name : {"exp",
                           "exp2",
                           "expm1",
                           "sin",
                           "cos",
                           "tan",
                           "sinh",
                           "cosh",
                           "tanh",
                           "asinh",
                           "atan",
                           "erf",
                           "sigmoid",
                           "negative",
                           "abs",
                           "square",
                           "nn.relu",
                           "nn.relu6",
                           "nn.silu",
                           "nn.gelu",
                           "nn.gelu_tanh",
                           "nn.elu",
                           "nn.celu",
                           "nn.selu",
                           "nn.leaky_relu",
                           "nn.softplus",
                           "nn.softsign",
                           "nn.mish",
                           "nn.hard_sigmoid",
                           "nn.hard_swish",
                           "nn.dropout",
                           "identity"})
    check_case(unary(std::string("R.") + name + "(x)"));
  for (const char* name : {"log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"})
    check_case(unary(std::string("R.") + name + "(x)", 0.3, 2));
  for (const char* name : {"asin", "acos", "atanh"}) check_case(unary(std::string("R.") + name + "(x)", -0.8, 0.8));
  check_all({unary("R.acosh(x)", 1.2, 3), unary("R.nn.relu6(x)", 4, 8), unary("R.nn.hard_swish(x)", -5, 5),
             unary("R.nn.hard_sigmoid(x)", -5, 5), unary("R.nn.thresholded_relu(x)", 0, 2),
             unary("R.nn.gelu(x, approximate=\"tanh\")"), unary("R.clip(x, -0.5, 0.7)"), unary("R.floor(x)"),
             unary("R.astype(R.nn.relu(x), \"float64\")")});
}

TEST_CASE("gradients of operators of two tensors are summed to the shapes that were broadcast") {
  for (const char* name : {"add", "subtract", "multiply", "divide", "power", "atan2", "maximum", "minimum", "mod",
                           "floor_mod", "nn.prelu"}) {
    const std::string call = std::string("R.") + name + "(x, y)";
    check_all({{call, "2, 3", "2, 3", 0.3, 2},
               {call, "2, 3", "3", 0.3, 2},
               {call, "2, 1", "1, 3", 0.3, 2},
               {call, "4, 1, 3", "2, 1", 0.3, 2},
               {call, "", "2, 3", 0.3, 2}});
  }
  check_all({{"R.where(R.greater(x, y), R.multiply(x, y), R.add(x, y))"},
             {"R.where(R.greater(x, y), x, y)", "2, 3", "3"},
             {"R.add(x, y)", "\"n\", 3", "\"m\", 3", -1, 1, {{"n", 4}, {"m", 1}}},
             {"R.multiply(x, y)", "\"n\", 3", "\"m\", 3", -1, 1, {{"n", 1}, {"m", 4}}},
             {"R.multiply(x, y)", "\"n\", 3", "\"m\", 3", -1, 1, {{"n", 4}, {"m", 4}}}});
}

TEST_CASE("gradients of products are products with the other operand") {
  check_all({{"R.matmul(x, y)", "2, 3", "3, 4"},
             {"R.matmul(x, y)", "3", "3"},
             {"R.matmul(x, y)", "3", "3, 2"},
             {"R.matmul(x, y)", "2, 3", "3"},
             {"R.matmul(x, y)", "3", "2, 3, 2"},
             {"R.matmul(x, y)", "2, 2, 3", "3"},
             {"R.matmul(x, y)", "2, 2, 3", "3, 2"},
             {"R.matmul(x, y)", "2, 3", "2, 3, 2"},
             {"R.matmul(x, y)", "2, 1, 2, 3", "3, 3, 2"},
             {"R.matmul(x, y)", "\"n\", 2, 3", "3, \"m\"", -1, 1, {{"n", 2}, {"m", 3}}},
             {"R.linear(x, y)", "2, 3", "4, 3"},
             {"R.einsum((x, y), \"ij,kj->ki\")", "2, 3", "4, 3"}});
}

TEST_CASE("gradients of reductions give each element its part") {
  for (const char* name : {"sum", "mean", "max", "min", "variance", "std", "log_sum_exp"})
    for (const char* how : {"", ", axis=[0]", ", axis=[-1], keepdims=True", ", axis=[0, 2], keepdims=True"})
      check_case({std::string("R.add(y, R.") + name + "(x" + how + "))", "2, 3, 2", "2, 3, 2"});
  check_all(
      {{"R.add(y, R.prod(x, axis=[1], keepdims=True))"},
       {"R.add(y, R.prod(x))"},
       {"R.add(R.sum(y), R.prod(x, axis=[0, 2]))", "2, 3, 2"},
       {"R.multiply(y, R.nn.softmax(R.prod(x, axis=[2, 0], keepdims=True)))", "2, 3, 2", "2, 3, 2"},
       {"R.multiply(y, R.cumprod(x, axis=1))", "2, 4", "2, 4"},
       {"R.multiply(y, R.cumprod(R.multiply(x, R.const([[1.0], [0.0], [1.0], [0.0]], \"float64\")), axis=0))", "4, 2",
        "4, 2"},
       {"R.multiply(y, R.cumprod(x, axis=0, exclusive=True, reverse=True))", "\"n\", 2", "4, 2", -1, 1, {{"n", 4}}},
       {"R.multiply(y, R.inverse(R.add(x, R.eye(3, dtype=\"float64\"))))", "2, 3, 3", "2, 3, 3", -0.3, 0.3},
       {"R.multiply(y, R.det(x))", "2, 3, 3", "2"},
       {"R.multiply(y, R.cumsum(x, axis=1))"},
       {"R.multiply(y, R.cumsum(x, axis=1, exclusive=True, reverse=True))"},
       {"R.multiply(y, R.nn.softmax(x))"},
       {"R.multiply(y, R.nn.softmax(x, axis=0))"},
       {"R.multiply(y, R.nn.log_softmax(x))"},
       {"R.multiply(y, R.mean(x))", "\"n\", 3", "2", -1, 1, {{"n", 4}}}});
}

TEST_CASE("gradients of moves put elements back") {
  check_all(
      {{"R.multiply(R.permute_dims(x, axes=[2, 0, 1]), y)", "2, 3, 4", "4, 2, 3"},
       {"R.multiply(R.permute_dims(x), y)", "2, 3", "3, 2"},
       {"R.multiply(R.reshape(x, R.shape([3, 2])), y)", "2, 3", "3, 2"},
       {"R.multiply(R.flatten(x), y)", "2, 3", "6"},
       {"R.multiply(R.expand_dims(x, axis=[1]), y)", "2, 3", "2, 1, 3"},
       {"R.multiply(R.squeeze(x, axis=[1]), y)", "2, 1, 3", "2, 3"},
       {"R.concat((x, y, x), axis=1)", "2, 3", "2, 2"},
       {"R.stack((x, y), axis=1)"},
       {"R.multiply(R.split(x, 2, axis=1)[1], y)", "2, 4", "2, 2"},
       {"R.multiply(R.broadcast_to(x, R.shape([4, 2, 3])), y)", "2, 1", "2, 3"},
       {"R.multiply(R.tile(x, R.shape([2, 2])), y)", "3", "2, 6"},
       {"R.multiply(R.repeat(x, repeats=2, axis=1), y)", "2, 3", "2, 6"},
       {"R.multiply(R.flip(x, axis=[1]), y)"},
       {"R.multiply(R.tril(x, 0), y)"},
       {"R.multiply(R.strided_slice(x, axes=[1], begin=[1], end=[3]), y)", "2, 4", "2, 2"},
       {"R.multiply(R.strided_slice(x, axes=[0, 1], begin=[0, 1], end=[2, 7], strides=[1, 3]), y)", "2, 8", "2, 2"},
       {"R.multiply(R.strided_slice(x, axes=[1], begin=[6], end=[0], strides=[-2]), y)", "2, 8", "2, 3"},
       {"R.multiply(R.nn.pad(x, [1, 0, 2, 1]), y)", "2, 3", "3, 6"},
       {"R.multiply(R.pad(x, R.shape([0, 1, 1, 0]), R.const(0.5, \"float64\")), y)", "2, 3", "3, 4"},
       {"R.multiply(R.pad(x, R.shape([0, 2, 0, 1]), mode=\"reflect\"), y)", "2, 3", "2, 6"},
       {"R.multiply(R.pad(x, R.shape([1, 2, 2, -1]), mode=\"edge\"), y)", "2, 3", "5, 4"},
       {"R.multiply(R.pad(x, R.shape([3, 0, 1, 4]), mode=\"wrap\"), y)", "\"n\", 3", "6, 7", -1, 1, {{"n", 2}}},
       {"R.multiply(R.diagonal(x, axis1=2, axis2=0), y)", "3, 2, 3", "2, 3"},
       {"R.einsum((x, y), \"iji,j->i\")", "3, 2, 3", "2"},
       {"R.multiply(R.reverse_sequence(x, R.const([2, 3], \"int64\")), y)", "3, 2", "3, 2"}});
}

TEST_CASE("gradients of what orders elements go back to where these were") {
  check_all({{"R.multiply(R.sort(x, axis=0), y)", "4, 2", "4, 2"},
             {"R.multiply(R.sort(x, descending=True), y)", "2, 4", "2, 4"},
             {"R.multiply(R.topk(x, k=2, axis=1)[0], y)", "2, 4", "2, 2"},
             {"R.multiply(R.topk(x, k=3, axis=0, largest=False)[0], y)", "4, 2", "3, 2"},
             {"R.multiply(R.nn.hardmax(x), y)"}});
}

TEST_CASE("gradients of resizes are products with the transposed maps of their axes") {
  auto resize = [](const std::string& attrs, const std::string& y) {
    return Case{"R.multiply(R.resize(x, R.shape([" + y + "])" + attrs + "), y)", "2, 2, 3, 4", y};
  };
  check_all(
      {resize(", mode=\"linear\"", "2, 2, 5, 3"),
       resize(", mode=\"cubic\"", "2, 2, 5, 9"),
       resize("", "2, 2, 6, 2"),
       resize(", mode=\"linear\", antialias=True", "2, 2, 2, 3"),
       resize(", mode=\"cubic\", coordinate_mode=\"align_corners\", exclude_outside=True", "2, 2, 3, 7"),
       resize(", mode=\"linear\", scales=R.const([1.0, 1.0, 1.7, 1.2], \"float64\")", "2, 2, 5, 4"),
       resize(", mode=\"linear\", coordinate_mode=\"tf_crop_and_resize\", extrapolation_value=2.0, "
              "roi=R.const([0.0, 0.0, 0.1, 0.2, 1.0, 1.0, 1.3, 0.9], \"float64\")",
              "2, 2, 4, 3"),
       {"R.multiply(R.resize(x, R.shape([1, 1, 7]), mode=\"linear\"), y)", "1, 1, \"n\"", "7", -1, 1, {{"n", 5}}}});
}

TEST_CASE("gradients of gathers add up what is read several times") {
  check_all(
      {{"R.multiply(R.take(x, R.const([2, 0, 2], \"int64\"), axis=0), y)", "3, 2", "3, 2"},
       {"R.multiply(R.take(x, R.const([[1, 0], [1, -1]], \"int64\"), axis=1), y)", "2, 3", "2, 2, 2"},
       {"R.multiply(R.take(x, R.const([5, -7, 1], \"int64\"), axis=1, mode=\"clip\"), y)", "2, 3", "2, 3"},
       {"R.multiply(R.take(x, R.const([5, -7, 1], \"int64\"), axis=1, mode=\"wrap\"), y)", "2, 3", "2, 3"},
       {"R.multiply(R.take(x, R.const(1, \"int64\"), axis=1), y)", "2, 3", "2"},
       {"R.multiply(R.gather_elements(x, R.const([[0, 0], [2, 1]], \"int64\"), axis=1), y)", "2, 3", "2, 2"},
       {"R.multiply(R.gather_nd(x, R.const([[0], [1], [0]], \"int64\")), y)", "2, 3", "3, 3"},
       {"R.scatter_elements(x, R.const([[0, 2], [2, 1]], \"int64\"), y, axis=1)", "2, 3", "2, 2"},
       {"R.scatter_elements(x, R.const([[0, 0], [2, 1]], \"int64\"), y, axis=1, reduction=\"add\")", "2, 3", "2, 2"},
       {"R.scatter_nd(x, R.const([[1], [0]], \"int64\"), y)", "3, 2", "2, 2"},
       {"R.multiply(R.gather_nd(x, R.const([[[0], [2]], [[1], [-1]]], \"int64\"), batch_dims=1), y)", "2, 3, 2",
        "2, 2, 2"}});
  for (const char* reduction : {"mul", "max", "min"}) {
    const std::string how = std::string("reduction=\"") + reduction + "\")";
    check_all({{"R.scatter_elements(x, R.const([[0, 0, 2], [2, 1, 1]], \"int64\"), y, axis=1, " + how, "2, 4", "2, 3"},
               {"R.scatter_nd(x, R.const([[1], [0], [1]], \"int64\"), y, " + how, "3, 2", "3, 2"}});
  }
  // Factors of 0: one of x, one of y, and two at one position.
  check_all(
      {{"R.scatter_elements(R.multiply(x, R.const([0.0, 1.0, 1.0], \"float64\")), R.const([0, 1, 1, 2, 2], "
        "\"int64\"), R.multiply(y, R.const([1.0, 0.0, 1.0, 0.0, 0.0], \"float64\")), reduction=\"mul\")",
        "3", "5"}});
}

TEST_CASE("gradients of convolutions and pools cover strides, dilations, groups and padding") {
  check_all(
      {{"R.nn.conv(x, y)", "2, 2, 5, 4", "3, 2, 3, 2"},
       {"R.nn.conv(x, y, strides=[2, 1], padding=[1, 0, 2, 1])", "2, 2, 5, 4", "3, 2, 3, 2"},
       {"R.nn.conv(x, y, strides=[2, 3], dilation=[2, 1])", "1, 2, 8, 7", "3, 2, 2, 2"},
       {"R.nn.conv(x, y, groups=2, padding=[1, 1])", "2, 4, 3, 3", "6, 2, 2, 2"},
       {"R.nn.conv(x, y, groups=4, strides=[2, 2])", "2, 4, 5, 5", "4, 1, 3, 3"},
       {"R.nn.conv(x, y, strides=[2], padding=[1])", "\"n\", 2, \"m\"", "3, 2, 3", -1, 1, {{"n", 2}, {"m", 6}}},
       {"R.nn.conv2d(x, y, strides=[2, 2], data_layout=\"NHWC\", kernel_layout=\"HWIO\")", "1, 5, 5, 2", "3, 3, 2, 3"},
       {"R.nn.conv_transpose(x, y, strides=[2, 1], padding=[1, 0])", "2, 3, 3, 3", "3, 2, 3, 2"},
       {"R.nn.conv_transpose(x, y, strides=[2, 2], output_padding=[1, 0], groups=2)", "1, 4, 3, 3", "4, 2, 2, 3"},
       {"R.multiply(R.nn.max_pool(x, pool_size=[2, 2], strides=[2, 2]), y)", "2, 2, 4, 5", "2, 2, 2, 2"},
       {"R.multiply(R.nn.max_pool(x, pool_size=[3, 2], strides=[1, 2], padding=[1, 0]), y)", "1, 2, 4, 4",
        "1, 2, 4, 2"},
       {"R.multiply(R.nn.avg_pool(x, pool_size=[2, 2], strides=[2, 2]), y)", "2, 2, 4, 5", "2, 2, 2, 2"},
       {"R.multiply(R.nn.avg_pool(x, pool_size=[3, 3], padding=[1, 1]), y)", "1, 2, 4, 4", "1, 2, 4, 4"},
       {"R.multiply(R.nn.avg_pool(x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1], count_include_pad=True), y)",
        "1, 2, 5, 5", "1, 2, 3, 3"},
       {"R.multiply(R.nn.avg_pool(x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True), y)", "1, 2, 5, 5",
        "1, 2, 3, 3"},
       {"R.multiply(R.nn.avg_pool(x, pool_size=[2], strides=[2]), y)", "1, 2, \"n\"", "2, 1", -1, 1, {{"n", 5}}},
       {"R.multiply(R.nn.lp_pool(x, pool_size=[2, 2], strides=[2, 1], padding=[1, 0, 0, 1]), y)", "1, 2, 4, 3",
        "1, 2, 2, 3"},
       {"R.multiply(R.nn.lp_pool(x, pool_size=[2], p=3), y)", "1, 2, 4", "1, 2, 3"},
       {"R.multiply(R.nn.lp_pool(x, pool_size=[2], p=1), y)", "1, 2, 4", "1, 2, 3"},
       {"R.multiply(R.nn.lrn(x, size=3, alpha=0.5, beta=0.75, bias=1.5), y)", "2, 5, 2, 2", "2, 5, 2, 2"},
       {"R.multiply(R.nn.lrn(x, size=4, axis=-1, alpha=2.0, beta=1.25, bias=1.0), y)", "2, 6", "2, 6"},
       {"R.multiply(R.nn.adaptive_avg_pool2d(x, output_size=[3, 2]), y)", "2, 2, 4, 5", "2, 3, 2"},
       {"R.multiply(R.nn.adaptive_avg_pool2d(x, output_size=[1, 1]), y)", "2, 3, 4, 5", "3, 1, 1"},
       {"R.multiply(R.nn.adaptive_avg_pool(x, output_size=[2, 1]), y)",
        "2, 3, 4, \"n\"",
        "3, 2, 1",
        -1,
        1,
        {{"n", 5}}}});
}

TEST_CASE("gradients of normalizations and attention are those of their parts") {
  check_all({{"R.nn.layer_norm(x, y, R.const([0.5, 1, 2], \"float64\"), axes=[-1])", "4, 3", "3"},
             {"R.nn.rms_norm(x, y, axes=[-1])", "4, 3", "3"},
             {"R.nn.group_norm(x, y, R.const([0.5, 1, 2, 1], \"float64\"), num_groups=2, channel_axis=1, axes=[2, 3])",
              "2, 4, 2, 2", "4"},
             {"R.nn.batch_norm(x, y, R.const([0.5, 1.0], \"float64\"), R.const([0.1, 0.2], \"float64\"), "
              "R.const([1.5, 2.0], \"float64\"), axis=1)",
              "3, 2, 2, 2", "2"},
             {"R.nn.scaled_dot_product_attention(x, y, x)", "1, 2, 3, 4", "1, 2, 3, 4"},
             {"R.multiply(y, R.nn.cross_entropy_with_logits(x, y))"},
             {"R.multiply(y, R.nn.nll_loss(R.nn.log_softmax(x), R.const([2, 0], \"int64\")))"}});
}

TEST_CASE("gradients of loops run from the last step to the first") {
  const std::string rnn =
      "    with R.loop(4, carried=(x,)) as (i, h):\n"
      "        row = R.take(y, R.const(1, \"int64\"), axis=0)\n"
      "        h1 = R.tanh(R.add(R.multiply(h, row), x))\n"
      "        last, all = R.carry(h1, scan=(R.square(h1),))\n";
  check_all({{"R.add(last, R.sum(all, axis=[0]))", "2, 3", "2, 3", -1, 1, {}, rnn},
             {"last", "2, 3", "2, 3", -1, 1, {}, rnn},
             {"all", "2, 3", "2, 3", -1, 1, {}, rnn}});
  // A loop in a loop, and a carried value that the step does not read.
  check_case({"R.add(outer, kept)",
              "3",
              "3",
              -1,
              1,
              {},
              "    with R.loop(3, carried=(x, y)) as (i, a, unread):\n"
              "        with R.loop(2, carried=(a,)) as (j, b):\n"
              "            inner = R.carry(R.multiply(b, R.cos(R.add(y, a))))\n"
              "        outer, kept = R.carry(inner, R.sin(inner))\n"});
}

TEST_CASE("gradients of recurrent layers are those of their loops") {
  for (const char* direction : {"forward", "reverse"}) {
    const std::string attrs = std::string(", direction=\"") + direction + "\")";
    // The weights are parts of y, so that all of them have derivatives: a [1, gates * 2, 3] and [1, gates * 2, 2].
    auto part = [](int64_t gates, int64_t begin, int64_t columns) {
      return "R.reshape(R.strided_slice(y, axes=[0], begin=[" + std::to_string(begin) + "], end=[" +
             std::to_string(begin + gates * 2 * columns) + "]), R.shape([1, " + std::to_string(gates * 2) + ", " +
             std::to_string(columns) + "]))";
    };
    check_all({{"R.nn.lstm(x, " + part(4, 0, 3) + ", " + part(4, 24, 2) + attrs + "[0]", "3, 2, 3", "40", -1, 1},
               {"R.nn.gru(x, " + part(3, 0, 3) + ", " + part(3, 18, 2) + attrs + "[0]", "3, 2, 3", "30", -1, 1},
               {"R.nn.rnn(x, " + part(1, 0, 3) + ", " + part(1, 6, 2) + attrs + "[1]",
                "\"n\", 2, 3",
                "10",
                -1,
                1,
                {{"n", 4}}}});
  }
}

TEST_CASE("gradients of branches are those of the branch that is taken") {
  const std::string branch =
      "    c = R.less(R.sum(x), R.const(0.0, \"float64\"))\n"
      "    if c:\n        a = R.multiply(x, y)\n    else:\n        a = R.tanh(x)\n";
  check_all(
      {{"R.add(a, y)", "2, 3", "2, 3", 0.1, 1, {}, branch}, {"R.add(a, y)", "2, 3", "2, 3", -1, -0.1, {}, branch}});
}

TEST_CASE("derivatives by a value that is used several times add up, through tuples as well") {
  check_all({{"R.multiply(R.add(R.multiply(x, x), R.tanh(x)), R.subtract(y, x))"},
             {"R.multiply(R.tuple(x, R.exp(y))[0], R.tuple(R.tanh(x), y)[1])"}});
}

TEST_CASE("at corners gradients are the ones that unary.h and binary.h name") {
  struct Corner {
    std::string call;
    double at, slope;
  };
  const std::vector<Corner> corners{{"R.nn.relu(x)", 0, 0},
                                    {"R.abs(x)", 0, 0},
                                    {"R.nn.elu(x, alpha=2.0)", 0, 2},
                                    {"R.nn.celu(x, alpha=2.0)", 0, 1},
                                    {"R.nn.selu(x, alpha=2.0, gamma=3.0)", 0, 6},
                                    {"R.nn.leaky_relu(x, alpha=0.125)", 0, 0.125},
                                    {"R.nn.prelu(x, R.add(y, R.const(0.25, \"float64\")))", 0, 0.25},
                                    {"R.nn.relu6(x)", 6, 0},
                                    {"R.nn.hard_sigmoid(x, alpha=0.25, beta=0.5)", -2, 0},
                                    {"R.nn.hard_sigmoid(x, alpha=0.25, beta=0.5)", 2, 0},
                                    {"R.nn.hard_swish(x)", -3, 0},
                                    {"R.nn.hard_swish(x)", 3, 1},
                                    {"R.maximum(x, y)", 1, 0.5},
                                    {"R.minimum(x, y)", 1, 0.5}};
  for (const Corner& corner : corners) {
    const Case one{corner.call, "1", "1", corner.at, corner.at};
    INFO(program_of(one));
    Program program(program_of(one));
    program.run(passes({"infer", "gradient", "dead_code"}));
    uint64_t state = 7;
    const HostTensor at = random_tensor({1}, corner.at, corner.at, state);
    Program value(
        "@R.function\ndef main(x: R.Tensor((1,), \"float64\"), y: R.Tensor((1,), \"float64\")):\n    return " +
        corner.call + "\n");
    value.run(passes({"infer"}));
    const double by_loss = std::cos(element(run(value, "main", {at, at})[0], 0));  // of the sin around it
    CHECK(element(run(program, "main_adjoint", {at, at})[1], 0) == Approx(by_loss * corner.slope).margin(1e-12));
  }
}
