// foreign_file.h: model files of other tools, which people hand to a compiler before they know what it reads.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace relaxc::api {

/// What a file of these bytes is, and how to get one that relaxc reads out of it, as one sentence in lower case:
/// "'net.pt' is a PyTorch file; export …". Nothing if the bytes may be an ONNX model, a TFLite model or text.
std::optional<std::string> foreign_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace relaxc::api
