// quantized_operand.h: reads an operand of a product as stored integers, their scale and their zero point.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// Stands for (stored - zero) * scale. Without a scale the product is one of integers.
struct QuantizedOperand {
  relax::Value* stored = nullptr;
  relax::Value* scale = nullptr;
  relax::Value* zero = nullptr;  ///< null: 0
  int64_t axis = 0;              ///< of `stored`, along which scale and zero are lists, if they are
  /// The permute_dims after it, which `quantized_operand` does not look through; null: none.
  const relax::Op* moved = nullptr;
};

/// Returns the operand if it is the result of a `dequantize`, or of a cast to int32 with or without the subtraction of
/// a zero point, and the stored values have at most 8 bits; else nothing.
std::optional<QuantizedOperand> quantized_operand(relax::Value* value);

/// Returns the elements of an integer constant that int32 holds, also through permute_dims, casts to wider integers and
/// views. The elements are not int64, which would take eight times the memory of the largest weight.
std::optional<std::vector<int32_t>> known_integers(const relax::Value* value);
/// Returns the only element of a constant; nothing if there are several or it is unknown.
std::optional<int64_t> known_integer(const relax::Value* value);
/// Whether two tensors are proved to have the same dims.
bool same_shape(const relax::Value& a, const relax::Value& b);
/// Whether the tensor has one element.
bool is_single(const relax::Value& value);

}  // namespace relaxc
