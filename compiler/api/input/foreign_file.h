// foreign_file.h: recognizes model files of other tools, which users may pass to the compiler.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace relaxc::api {

/// Returns what a file with these bytes is and how to convert it for relaxc, as one sentence in lower case: "'net.pt'
/// is a PyTorch file; export …". nullopt if the bytes may be an ONNX model, a TFLite model or text.
std::optional<std::string> foreign_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace relaxc::api
