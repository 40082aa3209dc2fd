// operators.h: what a file of ops/ provides: rows that say how an operator of TFLite becomes operators of ours.
//
// A row holds what can be said of the operator without looking at a node: how many inputs and outputs it has and which
// types its data may be of. The importer checks these before it calls `convert`, and docs/tflite-support.md prints
// them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontends/tflite/node.h"

namespace relaxc::tflite {

/// Sets of tensor types.
using Types = uint32_t;
constexpr Types type_bit(TensorType type) {
  return Types{1} << static_cast<unsigned>(type);
}
inline constexpr Types kF32 = type_bit(TensorType::FLOAT32), kI8 = type_bit(TensorType::INT8),
                       kU8 = type_bit(TensorType::UINT8), kI16 = type_bit(TensorType::INT16),
                       kI32 = type_bit(TensorType::INT32), kI64 = type_bit(TensorType::INT64),
                       kBool = type_bit(TensorType::BOOL);
inline constexpr Types kQuantized = kI8 | kU8 | kI16;
inline constexpr Types kNumbers = kF32 | kQuantized | kI32 | kI64;
inline constexpr Types kAny = ~Types{0};

struct Row {
  BuiltinOperator code;
  /// Emits operators and sets the node's outputs.
  Status (*convert)(Node&);
  int min_inputs = 1, max_inputs = 1;  ///< the first `min_inputs` must be there
  int outputs = 1;                     ///< -1: any number of them
  Types types = kAny;                  ///< of input `typed`
  int typed = 0;
  std::string_view rounding = {};  ///< how integers are requantized, for docs/tflite-support.md
  std::string_view note = {};      ///< limits, for docs/tflite-support.md
};

/// No limit to the number of inputs.
inline constexpr int kMany = 1 << 20;

/// All rows, found by code. Made once an import; the families are listed by CMake.
class OperatorTable {
 public:
  explicit OperatorTable(std::vector<std::span<const Row>> families);
  const Row* find(BuiltinOperator code) const;
  /// In order of their names.
  const std::vector<const Row*>& all() const { return rows_; }

 private:
  std::vector<const Row*> rows_;
};

OperatorTable operator_table();

/// "float32, int8": the types of a set, or "any".
std::string types_text(Types types);

}  // namespace relaxc::tflite

/// Ends a file frontends/tflite/ops/<family>.cpp: publishes its rows under the name that the generated list calls.
#define RELAXC_TFLITE_OPERATORS(family, table) \
  namespace relaxc::tflite {                   \
  std::span<const Row> family##_operators();   \
  std::span<const Row> family##_operators() {  \
    return family##_family::table;             \
  }                                            \
  }
