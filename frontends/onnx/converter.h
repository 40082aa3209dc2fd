// converter.h: the rows by which a file of ops/ converts nodes of ONNX to operators of relaxc.
//
// There is one row for each ONNX operator: a function that converts, and for operators of shape computations a function
// that computes known contents instead. Every version of an operator is converted by the same function, which tests the
// opset where the semantics changed.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

struct Converter {
  /// How a node with a tensor of strings as an input is converted.
  enum class Strings : uint8_t {
    kOwn,    ///< the converter handles strings, or refuses them
    kMoved,  ///< outputs consist of their elements, which are not read (string_permutation.h)
    kSized,  ///< only their sizes matter
  };

  std::string_view name;
  /// Emits operators and sets the node's outputs.
  Status (*convert)(Node&);
  /// Sets the outputs' contents and returns true if all contents it needs are known. Tried before `convert`.
  bool (*fold)(Node&) = nullptr;
  int64_t since = 1;             ///< lowest opset of the domain that is implemented
  std::string_view note = {};    ///< limits, for docs/onnx-support.md
  std::string_view domain = {};  ///< "" for ai.onnx
  Strings strings = Strings::kOwn;
};

/// All converters, by domain and name. Made once for each import; CMake lists the families.
class ConverterTable {
 public:
  explicit ConverterTable(std::vector<std::span<const Converter>> families);
  const Converter* find(std::string_view domain, std::string_view name) const;
  /// Returns the rows, sorted by domain and name.
  const std::vector<const Converter*>& all() const { return rows_; }

 private:
  std::vector<const Converter*> rows_;
};

ConverterTable converter_table();

}  // namespace relaxc::frontend

/// Ends a file frontends/onnx/ops/<family>.cpp: defines the function by which the generated list finds its rows.
#define RELAXC_CONVERTERS(family, table)             \
  namespace relaxc::frontend {                       \
  std::span<const Converter> family##_converters();  \
  std::span<const Converter> family##_converters() { \
    return family##_family::table;                   \
  }                                                  \
  }
