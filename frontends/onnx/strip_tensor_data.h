// strip_tensor_data.h: a model's wire format without the bytes of its tensors.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace relaxc::frontend {

/// Which message a file holds.
enum class WireRoot { kModel, kTensor };

/// What stripping found out; `fault` empty if the bytes are a well-formed message.
struct StrippedMessage {
  std::string bytes;
  std::string fault;  ///< "field 7 at byte 12 says it has 4000 bytes, but 96 are left"
};

/// Rewrites the message so that each TensorProto.raw_data becomes raw_offset and raw_length (where the bytes are in
/// `file`). Training, documentation and metadata are left out. Everything else is copied as it is.
StrippedMessage strip_tensor_data(std::span<const std::byte> file, WireRoot root);

}  // namespace relaxc::frontend
