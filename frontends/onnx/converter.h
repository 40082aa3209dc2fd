// converter.h: what a file of ops/ provides: rows that say how a node of ONNX becomes operators of ours.
//
// One row an ONNX operator: a function that converts, and, for the operators that models compute shapes with, one that
// works on known contents instead. Every version of an operator is converted by the same function, which asks for the
// opset where the meaning changed.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

struct Converter {
  /// What becomes of inputs that are tensors of strings.
  enum class Strings : uint8_t {
    kOwn,    ///< the converter knows them, or refuses them
    kMoved,  ///< all outputs are made of their elements, which move without a look (string_permutation.h)
    kSized,  ///< only their sizes matter
  };

  std::string_view name;
  /// Emits operators and sets the node's outputs.
  Status (*convert)(Node&);
  /// Where all that matters is known when compiling: sets the outputs' contents and returns true. Tried first.
  bool (*fold)(Node&) = nullptr;
  int64_t since = 1;             ///< lowest opset of the domain whose meaning is implemented
  std::string_view note = {};    ///< limits, for docs/onnx-support.md
  std::string_view domain = {};  ///< "" is ai.onnx
  Strings strings = Strings::kOwn;
};

/// All converters, found by domain and name. Made once an import; the families are listed by CMake.
class ConverterTable {
 public:
  explicit ConverterTable(std::vector<std::span<const Converter>> families);
  const Converter* find(std::string_view domain, std::string_view name) const;
  /// In order of domain and name.
  const std::vector<const Converter*>& all() const { return rows_; }

 private:
  std::vector<const Converter*> rows_;
};

ConverterTable converter_table();

}  // namespace relaxc::frontend

/// Ends a file frontends/onnx/ops/<family>.cpp: publishes its rows under the name that the generated list calls.
#define RELAXC_CONVERTERS(family, table)             \
  namespace relaxc::frontend {                       \
  std::span<const Converter> family##_converters();  \
  std::span<const Converter> family##_converters() { \
    return family##_family::table;                   \
  }                                                  \
  }
