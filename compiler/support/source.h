// source.h: source locations.
//
// A Location is a pointer to an immutable Origin: a span of a text file, or a node of an ONNX graph. It is one word,
// copied freely, null if nothing is known, and owned by Sources.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace relaxc {

/// A text file in memory, which diagnostics quote.
struct SourceFile {
  std::string path;
  std::string text;
};

/// `length` bytes of `file` from byte `begin`.
struct TextSpan {
  const SourceFile* file = nullptr;
  uint32_t begin = 0;
  uint32_t length = 0;
};

/// A node of an ONNX graph as the user knows it. `node` may be a description if the model has no name for it.
struct NodeOrigin {
  std::string file;
  std::string node;
  std::string op;
  int64_t opset = 0;
};

/// A whole file, if no more precise location is known.
struct FileOrigin {
  std::string file;
};

using Origin = std::variant<TextSpan, NodeOrigin, FileOrigin>;
using Location = const Origin*;

/// Owns the source files and origins of one compilation.
class Sources {
 public:
  const SourceFile* add_file(std::string path, std::string text) {
    return &files_.emplace_back(SourceFile{std::move(path), std::move(text)});
  }
  Location at(Origin origin) { return &origins_.emplace_back(std::move(origin)); }

 private:
  std::deque<SourceFile> files_;
  std::deque<Origin> origins_;
};

/// 1-based line and column (in bytes) of the start of a span.
struct LineColumn {
  uint32_t line = 1, column = 1;
};
LineColumn line_column(const TextSpan& span);

/// Returns a short name of an origin for IR dumps, reports and traces: "mlp.relax:14:31" or "conv_3".
std::string short_name(Location location);

}  // namespace relaxc
