// windows.h: what convolutions, pools and matrix products share: SAME padding, and products of quantized tensors.
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

/// Returns the padding of a dim of `size`. SAME pads so that there are ceil(size / stride) results, with the larger
/// half at the end. Reports an error if a stride, dilation or extent is below 1 or the result would be empty.
WindowPads window_pads(Node& node, int64_t size, const WindowAxis& axis, tflite_schema::Padding padding);

/// Describes a sum of products of data, less its zero point, and a filter.
struct ProductSum {
  size_t data = 0;            ///< index of the data's input
  size_t filter = 1;          ///< index of the filter's input
  bool outputs_last = false;  ///< in the file, outputs are the filter's last dim, not its first
  int64_t filter_zero = 0;
  bool in_float = false;  ///< compute scale(data) * scale(filter) in float32, as older kernels do
};

/// Returns the filter's elements less their zero point; int16 unless the zero point is 0.
Value* centered(Node& node, Value* filter, int64_t zero);
/// Returns what must be added to sums of stored data times the centered filter: input `bias` (-1: none) minus the
/// data's zero point times the filter's sums. It has one element per output; null if there is nothing to add.
Value* folded_bias(Node& node, const ProductSum& product, int bias, DType dtype);
/// Returns input `at` as float32: float16 weights are converted, int4, int8 and uint8 ones dequantized.
Value* float_weights(Node& node, size_t at);
/// Returns scale(data) * scale(filter) / scale(output), one for all outputs or one for each.
std::vector<double> product_scales(Node& node, const ProductSum& product);
std::vector<Multiplier> product_multipliers(Node& node, const ProductSum& product);
/// Returns how sums become the output of type `dtype`: its zero point, the activation's bounds, and the rounding for
/// `sums`.
Stored stored_output(Node& node, DType dtype, Node::Activation activation, DType sums);

/// Returns the dtype of sums of such products: int32, but int64 for 16-bit data unless the model declares the bias as
/// int32.
DType sums_dtype(TensorType data, TensorType bias_type);

}  // namespace relaxc::tflite
