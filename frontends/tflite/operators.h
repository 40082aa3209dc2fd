// operators.h: what a file of ops/ provides: rows that say how TFLite operators are converted to relax operators.
//
// A row holds what is known of the operator without looking at a node: how many inputs and outputs it has and which
// types its data may have. The importer checks these before it calls `convert`, and docs/tflite-support.md lists
// them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontends/tflite/node.h"

namespace relaxc::tflite {

/// A set of tensor types, one bit each.
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
  int min_inputs = 1, max_inputs = 1;  ///< the first `min_inputs` must be present
  int outputs = 1;                     ///< -1 for any number of outputs
  Types types = kAny;                  ///< allowed types of input `typed`
  int typed = 0;
  std::string_view rounding = {};  ///< how integers are rounded, for docs/tflite-support.md
  std::string_view note = {};      ///< limitations, for docs/tflite-support.md
};

/// As max_inputs: any number of inputs.
inline constexpr int kMany = 1 << 20;

/// All rows, found by code. It is made once per import; CMake lists the families.
class OperatorTable {
 public:
  explicit OperatorTable(std::vector<std::span<const Row>> families);
  const Row* find(BuiltinOperator code) const;
  /// Returns the rows in order of their operators' names.
  const std::vector<const Row*>& all() const { return rows_; }

 private:
  std::vector<const Row*> rows_;
};

OperatorTable operator_table();

/// Returns the types of a set as text, such as "float32, int8", or "any".
std::string types_text(Types types);

}  // namespace relaxc::tflite

/// Ends a file frontends/tflite/ops/<family>.cpp: defines the function by which the generated table finds its rows.
#define RELAXC_TFLITE_OPERATORS(family, table) \
  namespace relaxc::tflite {                   \
  std::span<const Row> family##_operators();   \
  std::span<const Row> family##_operators() {  \
    return family##_family::table;             \
  }                                            \
  }
