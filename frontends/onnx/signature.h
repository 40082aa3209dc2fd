// signature.h: the signatures of operators: inputs, outputs, and attributes with their types.
//
// The data is signatures.txt, which tests/onnx/signatures.py generates from the schemas of ONNX and ONNX Runtime; a
// test checks it. Every node is checked against it before it is converted (check_node.h), so converters read attributes
// that exist and have the right type.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relaxc::frontend {

/// An input or output of an operator.
struct Formal {
  enum class Kind : uint8_t { kOne, kOptional, kAny, kSome };  ///< the last two are repeated: at least 0 or 1 times
  std::string_view name;
  Kind kind = Kind::kOne;
};

struct AttributeFormal {
  std::string_view name, type;  ///< the type in ONNX's words, in lower case: "ints"
  bool required = false;
};

struct Signature {
  std::vector<Formal> inputs, outputs;
  std::vector<AttributeFormal> attributes;

  const AttributeFormal* attribute(std::string_view name) const;
};

/// The lines of signatures.txt, by domain and operator.
class SignatureTable {
 public:
  SignatureTable();
  /// Returns the signature of an operator in a version of its domain; that of its first version for older ones.
  std::optional<Signature> find(std::string_view domain, std::string_view op, int64_t version) const;

 private:
  struct Line {
    int64_t version;
    std::string_view text;
  };
  std::map<std::pair<std::string_view, std::string_view>, std::vector<Line>> lines_;
};

/// Returns signatures.txt at the time when relaxc was built.
std::string_view signature_text();

}  // namespace relaxc::frontend
