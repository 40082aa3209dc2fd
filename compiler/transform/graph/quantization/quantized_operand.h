// quantized_operand.h: reading what an operand of a product stands for: integers, their scale and their zero point.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// real = (stored - zero) * scale. Without a scale the product is one of integers.
struct QuantizedOperand {
  relax::Value* stored = nullptr;
  relax::Value* scale = nullptr;
  relax::Value* zero = nullptr;  ///< null: 0
  int64_t axis = 0;              ///< of `stored`, along which scale and zero are if they are lists
  /// The permute_dims behind it, which `quantized_operand` does not look through; null: none.
  const relax::Op* moved = nullptr;
};

/// The operand as the result of a `dequantize`, or of a cast to int32 and the subtraction of a zero point; the stored
/// values have at most 8 bits.
std::optional<QuantizedOperand> quantized_operand(relax::Value* value);

/// The elements of a constant of integers that int32 holds, also seen through permute_dims, casts to wider integers and
/// views. Not int64, which would take eight times the memory of the largest weight.
std::optional<std::vector<int32_t>> known_integers(const relax::Value* value);
/// The only element of a constant.
std::optional<int64_t> known_integer(const relax::Value* value);
/// Whether two tensors are known to have the same dims.
bool same_shape(const relax::Value& a, const relax::Value& b);
/// Whether the tensor has one element.
bool is_single(const relax::Value& value);

}  // namespace relaxc
