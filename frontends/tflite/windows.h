// windows.h: what convolutions, pools and products share: how far SAME pads, and sums of products of quantized tensors.
#pragma once

#include "frontends/tflite/node.h"

namespace relaxc::tflite {

/// A window along one spatial dim.
struct WindowAxis {
  int64_t extent = 1, stride = 1, dilation = 1;
  int64_t span() const { return (extent - 1) * dilation + 1; }
};

struct WindowPads {
  int64_t begin = 0, end = 0, results = 0;
};

/// Pads of a dim of `size`: of SAME so that there are ceil(size / stride) results, the larger half behind. Fails the
/// node where a stride, dilation or extent is below 1 or the result would be empty.
WindowPads window_pads(Node& node, int64_t size, const WindowAxis& axis, tflite_schema::Padding padding);

/// A sum of products of data, less its zero point, and a filter.
struct ProductSum {
  size_t data = 0;            ///< the input that it is
  size_t filter = 1;          ///< likewise
  bool outputs_last = false;  ///< in the file: else the filter's outputs are its first dim
  int64_t filter_zero = 0;
  bool in_float = false;  ///< scales of input and filter are multiplied in float32 before they are divided
};

/// The filter's elements less their zero point, in the least dtype that holds them.
Value* centered(Node& node, Value* filter, int64_t zero);
/// What is added to sums of stored data times the centered filter: `bias` (-1: none) less the data's zero point
/// times the filter's sums. One for each output, or null if it is nothing.
Value* folded_bias(Node& node, const ProductSum& product, int bias, DType dtype);
/// Input `at` as float32 weights: those of 16 bits are converted, those of 8 bits dequantized.
Value* float_weights(Node& node, size_t at);
/// scale(data) * scale(filter) / scale(output): one, or one for each output.
std::vector<double> product_scales(Node& node, const ProductSum& product);
std::vector<Multiplier> product_multipliers(Node& node, const ProductSum& product);
/// How the sums become the output: its zero point, the activation's bounds, and the rounding of their dtype.
Stored stored_output(Node& node, Node::Activation activation, DType sums);

/// The dtype in which sums of products of such data are kept: int64 of 16-bit data, unless the bias is said to be
/// int32.
DType sums_dtype(TensorType data, TensorType bias_type);

}  // namespace relaxc::tflite
