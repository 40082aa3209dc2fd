// quantization_text.cpp: prints and parses quantization parameters. Floats have as many digits as are needed to
// distinguish them.
#include "compiler/relax/quantization_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace relaxc::relax {
namespace {

using tir::Quantization;
using tir::QuantizedTensors;

std::string one_text(const char* role, size_t index, const Quantization& q) {
  std::string axis = q.axis < 0 ? "" : fmt::format("axis {} ", q.axis);
  return fmt::format("{} {}: {}scale {} zero {}", role, index, axis, fmt::join(q.scale, ", "),
                     fmt::join(q.zero_point, ", "));
}

/// Reads words and numbers from the front of a text.
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

std::optional<QuantizedTensors> parse_quantized_tensors(const std::vector<std::string>& texts) {
  QuantizedTensors tensors;
  for (const std::string& text : texts)
    if (!read_one(text, tensors)) return std::nullopt;
  return tensors;
}

}  // namespace relaxc::relax
