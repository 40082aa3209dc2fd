// strip_tensor_data.h: removes the bytes of tensors from a model's wire format.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace relaxc::frontend {

/// The message in a file.
enum class WireRoot { kModel, kTensor };

/// The result of stripping; `fault` is empty if the bytes are a well-formed message.
struct StrippedMessage {
  std::string bytes;
  std::string fault;  ///< "field 7 at byte 12 says it has 4000 bytes, but 96 are left"
};

/// Rewrites the message so that each TensorProto.raw_data becomes raw_offset and raw_length (the position of the bytes
/// in `file`). Training, documentation and metadata are left out. Everything else is copied.
StrippedMessage strip_tensor_data(std::span<const std::byte> file, WireRoot root);

}  // namespace relaxc::frontend
