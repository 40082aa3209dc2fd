// is_onnx.cpp: recognizes a model by its fields, since protobuf has no magic number.
//
// Writers put ir_version first, as fields are numbered, so a model begins with the byte 8, which no text does. The
// following fields are walked at the first level only: a graph of gigabytes is one step.
#include "frontends/onnx/is_onnx.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace relaxc::frontend {
namespace {

using Bytes = std::span<const std::byte>;

/// Reads a varint and removes it from the front of `bytes`; returns nullopt if it is cut off or too long.
std::optional<uint64_t> varint(Bytes& bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < 10 && i < bytes.size(); ++i) {
    auto byte = std::to_integer<uint64_t>(bytes[i]);
    value |= (byte & 127) << (7 * i);
    if (byte < 128) {
      bytes = bytes.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

/// Returns the wire type of a field of ModelProto: 0 (varint) or 2 (length-delimited); nullopt for an unknown field.
std::optional<uint64_t> wire_type(uint64_t field) {
  if (field == 1 || field == 5) return 0;
  bool bytes = (field >= 2 && field <= 8) || field == 14 || field == 20 || field == 25 || field == 26;
  return bytes ? std::optional<uint64_t>(2) : std::nullopt;
}

bool is_model(Bytes bytes) {
  constexpr uint64_t kGraph = 7;
  if (bytes.empty() || bytes[0] != std::byte{8}) return false;
  bool graph = false;
  while (!bytes.empty()) {
    std::optional<uint64_t> tag = varint(bytes);
    if (!tag || wire_type(*tag >> 3) != (*tag & 7)) return false;
    std::optional<uint64_t> value = varint(bytes);
    if (!value) return false;
    graph = graph || *tag >> 3 == kGraph;
    if ((*tag & 7) == 0) continue;
    if (*value > bytes.size()) return graph;
    bytes = bytes.subspan(*value);
  }
  return graph;
}

}  // namespace

bool is_onnx_file(const std::string& path, const relax::MemoryFiles& memory) {
  if (std::filesystem::path(path).extension() == ".onnx") return true;
  Diagnostics unasked;
  std::error_code none;
  if (relax::find_file(memory, path) == nullptr && !std::filesystem::is_regular_file(path, none)) return false;
  Result<relax::FileRef> file = relax::open_file(memory, path, nullptr, unasked);
  return file && is_model((*file)->bytes());
}

}  // namespace relaxc::frontend
