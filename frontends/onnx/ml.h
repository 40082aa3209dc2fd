// ml.h: shared by the operators of ai.onnx.ml: constants from attribute lists, class labels, transforms of scores.
#pragma once

#include <string>
#include <vector>

#include "frontends/onnx/conversion_builder.h"

namespace relaxc::frontend {

inline constexpr std::string_view kMl = "ai.onnx.ml";

/// Returns a constant of `shape`, with the elements converted to `dtype` (int or float of 32 or 64 bits, uint8).
Value* constant_of(Node& node, DType dtype, std::vector<int64_t> shape, const std::vector<double>& elements);
/// The same for int64 elements, which a double cannot represent.
Value* constant_of(Node& node, std::vector<int64_t> shape, const std::vector<int64_t>& elements);
inline Value* list_of(Node& node, DType dtype, const std::vector<double>& elements) {
  return constant_of(node, dtype, {static_cast<int64_t>(elements.size())}, elements);
}
/// Returns the elements of a numeric tensor attribute; empty if there is none.
Result<std::vector<double>> tensor_numbers(Node& node, std::string_view attribute);

/// Returns input 0 as rows of features, [N, F] (one row if it has one dim), in float32; float64 stays if `keep_double`.
Result<Value*> feature_rows(ConversionBuilder& c, bool keep_double);

/// The class labels (classlabels_ints or _int64s, or _strings), and output 0, which consists of them.
class ClassLabels {
 public:
  ClassLabels(Node& node, std::string_view ints, std::string_view strings);
  int64_t count() const { return static_cast<int64_t>(strings_.empty() ? labels_.size() : strings_.size()); }
  /// Sets output 0 to the label of each row, by its index (int64 [N]).
  Status set(ConversionBuilder& c, Value* index) const;

 private:
  std::vector<int64_t> labels_;
  std::vector<std::string> strings_;
};

/// Sets output `output` to the strings of the list at the indices (int64).
Status set_strings_at(ConversionBuilder& c, size_t output, const std::vector<std::string>& list, Value* indices);

/// Applies NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT to scores [N, E].
Value* transformed(ConversionBuilder& c, Value* scores, const std::string& transform);
/// Returns one column of scores as two, of the negative and the positive class: (1 - s, s), or with `mixed` signs (-s,
/// s); LOGISTIC transforms (-s, s) in both cases.
Value* both_classes(ConversionBuilder& c, Value* score, bool mixed, const std::string& transform);

}  // namespace relaxc::frontend
