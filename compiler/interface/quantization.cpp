// quantization.cpp: the attribute's text, both ways. Floats are written with as many digits as distinguish them.
#include "compiler/interface/quantization.h"

#include <fmt/format.h>

#include <charconv>

namespace relaxc::interface {
namespace {

std::string one_text(const char* role, size_t index, const Quantization& q) {
  std::string axis = q.axis < 0 ? "" : fmt::format("axis {} ", q.axis);
  return fmt::format("{} {}: {}scale {} zero {}", role, index, axis, fmt::join(q.scale, ", "),
                     fmt::join(q.zero_point, ", "));
}

/// Takes words and numbers off the front of a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool word(std::string_view expected) {
    skip();
    if (text_.substr(0, expected.size()) != expected) return false;
    text_.remove_prefix(expected.size());
    return true;
  }

  template <typename T>
  bool number(T& value) {
    skip();
    auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return true;
  }

  template <typename T>
  bool list(std::vector<T>& values) {
    do {
      values.emplace_back();
      if (!number(values.back())) return false;
    } while (word(","));
    return true;
  }

  bool at_end() {
    skip();
    return text_.empty();
  }

 private:
  void skip() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  std::string_view text_;
};

bool read_one(std::string_view text, QuantizedTensors& tensors) {
  Reader reader(text);
  bool input = reader.word("input");
  if (!input && !reader.word("output")) return false;
  size_t index = 0;
  Quantization q;
  if (!reader.number(index) || !reader.word(":")) return false;
  if (reader.word("axis") && (!reader.number(q.axis) || q.axis < 0)) return false;
  if (!reader.word("scale") || !reader.list(q.scale) || !reader.word("zero") || !reader.list(q.zero_point))
    return false;
  if (!reader.at_end() || q.scale.size() != q.zero_point.size() || (q.axis < 0 && q.scale.size() != 1)) return false;
  return (input ? tensors.inputs : tensors.outputs).emplace(index, std::move(q)).second;
}

}  // namespace

std::vector<std::string> to_text(const QuantizedTensors& tensors) {
  std::vector<std::string> texts;
  for (const auto& [index, q] : tensors.inputs) texts.push_back(one_text("input", index, q));
  for (const auto& [index, q] : tensors.outputs) texts.push_back(one_text("output", index, q));
  return texts;
}

std::optional<QuantizedTensors> parse_quantized(const std::vector<std::string>& texts) {
  QuantizedTensors tensors;
  for (const std::string& text : texts)
    if (!read_one(text, tensors)) return std::nullopt;
  return tensors;
}

QuantizedTensors quantized_tensors(const Entry& entry) {
  QuantizedTensors tensors;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (entry.inputs[i].quant) tensors.inputs.emplace(i, *entry.inputs[i].quant);
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].quant) tensors.outputs.emplace(i, *entry.outputs[i].quant);
  return tensors;
}

std::string formula_text(const Quantization& q) {
  if (q.axis >= 0) return fmt::format("(stored - zero point) * scale, both along axis {}", q.axis);
  std::string zero = q.zero_point[0] == 0  ? "stored"
                     : q.zero_point[0] < 0 ? fmt::format("(stored + {})", -int64_t{q.zero_point[0]})
                                           : fmt::format("(stored - {})", q.zero_point[0]);
  return fmt::format("{} * {}", zero, q.scale[0]);
}

}  // namespace relaxc::interface
