// recurrent.cpp: LSTM, GRU and RNN, for which relaxc has operators with ONNX's semantics.
#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::recurrent_family {
namespace {

Result<std::vector<Value*>> first_inputs(Node& node, size_t count) {
  std::vector<Value*> values;
  for (size_t i = 0; i < count; ++i) {
    RELAXC_TRY(Value * value, node.optional_input(i));
    values.push_back(value);
  }
  return values;
}

/// Emits `op`; `values` are in ONNX's order. Activation names are those of ONNX, in upper or lower case.
Status recurrent(Node& node, OpName op, std::vector<Value*> values, Attrs attrs) {
  if (node.has_attr("hidden_size") && values.at(2) != nullptr && values[2]->shape().size() == 3) {
    std::vector<Expr> dims = values[2]->shape();
    dims[2] = node.index(node.int_attr("hidden_size", 0));
    RELAXC_TRY(values[2], with_shape(node, values[2], std::move(dims), "hidden_size"));
  }
  attrs.set("direction", node.string_attr("direction", "forward"));
  attrs.set("activations", node.strings_attr("activations"));
  attrs.set("activation_alpha", node.floats_attr("activation_alpha"));
  attrs.set("activation_beta", node.floats_attr("activation_beta"));
  attrs.set("clip", node.float_attr("clip", 0));
  attrs.set("layout", node.int_attr("layout", 0));
  RELAXC_TRY(std::vector<Value*> results, node.call_many(op, values, std::move(attrs)));
  for (size_t i = 0; i < results.size(); ++i) RELAXC_DO(node.set(i, results[i]));
  return Done{};
}

Status lstm(Node& node) {
  RELAXC_TRY(std::vector<Value*> values, first_inputs(node, 8));
  return recurrent(node, "nn.lstm", std::move(values), {{"input_forget", node.int_attr("input_forget", 0) != 0}});
}
Status gru(Node& node) {
  RELAXC_TRY(std::vector<Value*> values, first_inputs(node, 6));
  Attrs attrs{{"linear_before_reset", node.int_attr("linear_before_reset", 0) != 0}};
  return recurrent(node, "nn.gru", std::move(values), std::move(attrs));
}
Status rnn(Node& node) {
  RELAXC_TRY(std::vector<Value*> values, first_inputs(node, 6));
  return recurrent(node, "nn.rnn", std::move(values), {});
}

/// Converts DynamicQuantizeLSTM with integer weights [directions, in, 4 * hidden]. ONNX Runtime also rounds the other
/// factor of each product to 8 bits; here it stays a float, which is nearer to the model before quantization.
Status quantized_lstm(Node& node) {
  ConversionBuilder c(node);
  RELAXC_TRY(std::vector<Value*> values, first_inputs(node, 8));
  for (size_t i : {size_t{1}, size_t{2}}) {
    Value *weight = values[i], *scale = c.input(6 + 2 * i), *zero = c.input(7 + 2 * i);
    if (weight == nullptr) return node.error(Kind::wrong_arity, "input {} is missing", i);
    if (!c.ok()) return c.failed();
    if (weight->shape().size() != 3)
      return node.error(Kind::rank_mismatch, "input {} must have 3 dims, found {}", i, relax::to_string(weight->info));
    Expr one = node.index(1), directions = weight->shape()[0];
    auto wide = [&](Value* x) {
      bool each = c.ok() && rank_of(x) == 2;
      return c.reshape(x, {directions, one, each ? weight->shape()[2] : one});
    };
    Value* points = wide(c.as(zero, DType::i(32)));
    Value* centered = c.subtract(c.as(weight, DType::i(32)), points);
    Value* factors = wide(scale);
    values[i] = c.permute(c.multiply(c.as(centered, DType::f(32)), factors), {0, 2, 1});
    if (!c.ok()) return c.failed();
  }
  return recurrent(node, "nn.lstm", std::move(values), {{"input_forget", node.int_attr("input_forget", 0) != 0}});
}

Status reverse_sequence(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * lengths, node.input(1));
  return node.set(
      0, node.call("reverse_sequence", {x, lengths},
                   {{"seq_axis", node.int_attr("time_axis", 0)}, {"batch_axis", node.int_attr("batch_axis", 1)}}));
}

constexpr Converter kRows[] = {
    {.name = "LSTM", .convert = lstm},
    {.name = "GRU", .convert = gru},
    {.name = "RNN", .convert = rnn},
    {.name = "DynamicQuantizeLSTM",
     .convert = quantized_lstm,
     .note = "intermediate activations are not rounded",
     .domain = "com.microsoft"},
    {.name = "ReverseSequence", .convert = reverse_sequence, .strings = Converter::Strings::kMoved},
};

}  // namespace
}  // namespace relaxc::frontend::recurrent_family

RELAXC_CONVERTERS(recurrent, kRows)
