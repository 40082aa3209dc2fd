// recurrent.cpp: LSTM, GRU and RNN, which are operators of ours with ONNX's meaning.
#include "frontends/onnx/fold.h"

namespace relaxc::frontend {
namespace {

/// Operands in ONNX's order; attributes under our names. Activation names are ONNX's, in any case of letters.
Status recurrent(Node& node, const char* op, size_t operands, Attrs attrs) {
  Diagnostics& diag = node.diag;
  std::vector<Value*> values;
  for (size_t i = 0; i < operands; ++i) {
    RELAXC_TRY(Value * value, node.optional_input(i));
    values.push_back(value);
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
  return recurrent(node, "nn.lstm", 8, {{"input_forget", node.int_attr("input_forget", 0) != 0}});
}
Status gru(Node& node) {
  return recurrent(node, "nn.gru", 6, {{"linear_before_reset", node.int_attr("linear_before_reset", 0) != 0}});
}
Status rnn(Node& node) {
  return recurrent(node, "nn.rnn", 6, {});
}

Status reverse_sequence(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * lengths, node.input(1));
  return node.set(
      0, node.call("reverse_sequence", {x, lengths},
                   {{"seq_axis", node.int_attr("time_axis", 0)}, {"batch_axis", node.int_attr("batch_axis", 1)}}));
}

constexpr Converter kRows[] = {
    {.name = "LSTM", .convert = lstm, .since = 7},
    {.name = "GRU", .convert = gru, .since = 7},
    {.name = "RNN", .convert = rnn, .since = 7},
    {.name = "ReverseSequence", .convert = reverse_sequence},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(recurrent, kRows)
