// strip_tensor_data.cpp: parses protobuf's wire format as far as needed to find the bytes of tensors.
//
// The problem: protobuf copies every byte field into a string of its own, so parsing a 500 MB model takes a gigabyte
// before anything is done with it. The bytes are needed once, at the end, when weights are written.
//
// The method: the wire format is a list of (field number, type, value), nested by length. The walk follows only the
// fields that lead to a TensorProto (graph, node, attribute, function, subgraph), writes a copy of the message with the
// positions of the bytes instead of the bytes, and protobuf parses the copy, which is as small as the graph. Lengths of
// enclosing messages change, so each level is built as a string and then appended.
//
// Rejected: a custom ZeroCopyInputStream (cannot change lengths), parsing with aliasing (not in Debian's protobuf), and
// a parser of our own for all messages (the generated one is far better tested).
//
// The input may be hostile: every length is checked against the remaining bytes, varints end after ten bytes, and
// nesting has a limit, so that no input can exhaust the stack.
#include "frontends/onnx/strip_tensor_data.h"

#include <fmt/format.h>

#include <cstdint>

namespace relaxc::frontend {
namespace {

enum class Message : uint8_t { kModel, kGraph, kNode, kAttribute, kTensor, kSparse, kFunction, kInfo, kOther };

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint32_t kRawData = 9, kRawOffset = 1000, kRawLength = 1001;
/// Maximum depth of messages. A subgraph takes three levels; models nest fewer than 30. Protobuf's own limit is 100.
constexpr int kDeepest = 90;

/// Returns the kind of message in field `field` of `message` if it can contain a tensor, else kOther.
Message child(Message message, uint32_t field) {
  switch (message) {
    case Message::kModel:
      return field == 7 ? Message::kGraph : field == 25 ? Message::kFunction : Message::kOther;
    case Message::kGraph:
      return field == 1                                  ? Message::kNode
             : field == 5                                ? Message::kTensor
             : field == 15                               ? Message::kSparse
             : field == 11 || field == 12 || field == 13 ? Message::kInfo
                                                         : Message::kOther;
    case Message::kNode:
      return field == 5 ? Message::kAttribute : Message::kOther;
    case Message::kFunction:
      return field == 7 ? Message::kNode : field == 11 ? Message::kAttribute : Message::kOther;
    case Message::kAttribute:
      return field == 5 || field == 10    ? Message::kTensor
             : field == 6 || field == 11  ? Message::kGraph
             : field == 22 || field == 23 ? Message::kSparse
                                          : Message::kOther;
    case Message::kSparse:
      return field == 1 || field == 2 ? Message::kTensor : Message::kOther;
    default:
      return Message::kOther;
  }
}

/// Returns whether to drop a field: documentation, metadata, training, device placement, which the importer does not
/// use, and the private fields of this file's output, which an input file must not contain.
bool dropped(Message message, uint32_t field) {
  switch (message) {
    case Message::kModel:
      return field == 6 || field == 20 || field == 26;
    case Message::kGraph:
      return field == 10 || field == 16;
    case Message::kNode:
      return field == 6 || field == 9 || field == 10;
    case Message::kAttribute:
      return field == 13;
    case Message::kFunction:
      return field == 8 || field == 14;
    case Message::kTensor:
      return field == 12 || field == 16 || field == kRawOffset || field == kRawLength;
    case Message::kInfo:
      return field == 3 || field == 4;
    default:
      return false;
  }
}

class Slimming {
 public:
  explicit Slimming(std::span<const std::byte> file) : file_(file) {}

  StrippedMessage run(Message root) {
    StrippedMessage result;
    walk(root, 0, file_.size(), 0, result.bytes);
    result.fault = std::move(fault_);
    return result;
  }

 private:
  bool fail(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
    return false;
  }

  bool varint(size_t& at, size_t end, uint64_t& value) {
    value = 0;
    size_t start = at;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at >= end) return fail(fmt::format("a number at byte {} is cut off", start));
      uint64_t byte = static_cast<uint8_t>(file_[at++]);
      value |= shift < 64 ? (byte & 0x7f) << shift : 0;
      if ((byte & 0x80) == 0) return true;
    }
    return fail(fmt::format("a number at byte {} has more than ten bytes", start));
  }

  static void put_varint(std::string& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
  }

  void copy(size_t begin, size_t end, std::string& out) const {
    out.append(reinterpret_cast<const char*>(file_.data()) + begin, end - begin);
  }

  bool walk(Message message, size_t at, size_t end, int depth, std::string& out) {
    if (depth > kDeepest) return fail(fmt::format("messages nest deeper than {} levels at byte {}", kDeepest, at));
    while (at < end)
      if (!field(message, at, end, depth, out)) return false;
    return true;
  }

  /// Copies, rewrites or drops the field at `at`, and moves `at` behind it. Returns false after an error.
  bool field(Message message, size_t& at, size_t end, int depth, std::string& out) {
    size_t begin = at;
    uint64_t key = 0, length = 0;
    if (!varint(at, end, key)) return false;
    uint32_t number = static_cast<uint32_t>(key >> 3);
    if (key >> 32 != 0 || number == 0) return fail(fmt::format("byte {} is not the start of a field", begin));
    switch (key & 7) {
      case kVarint:
        if (!varint(at, end, length)) return false;
        break;
      case kFixed64:
      case kFixed32: {
        size_t size = (key & 7) == kFixed64 ? 8 : 4;
        if (end - at < size) return fail(fmt::format("field {} at byte {} is cut off", number, begin));
        at += size;
        break;
      }
      case kBytes:
        if (!varint(at, end, length)) return false;
        if (length > end - at)
          return fail(fmt::format("field {} at byte {} says that it has {} bytes, but {} are left", number, begin,
                                  length, end - at));
        return bytes_field(message, number, begin, at, length, depth, out);
      default:
        return fail(fmt::format("byte {} starts a field of unknown wire type {}", begin, key & 7));
    }
    if (!dropped(message, number)) copy(begin, at, out);
    return true;
  }

  bool bytes_field(Message message, uint32_t number, size_t begin, size_t& at, uint64_t length, int depth,
                   std::string& out) {
    size_t content = at;
    at += length;
    if (dropped(message, number)) return true;
    if (message == Message::kTensor && number == kRawData) {
      put_varint(out, uint64_t{kRawOffset} << 3 | kVarint);
      put_varint(out, content);
      put_varint(out, uint64_t{kRawLength} << 3 | kVarint);
      put_varint(out, length);
      return true;
    }
    Message inner = child(message, number);
    if (inner == Message::kOther) {
      copy(begin, at, out);
      return true;
    }
    std::string stripped;
    if (!walk(inner, content, at, depth + 1, stripped)) return false;
    put_varint(out, uint64_t{number} << 3 | kBytes);
    put_varint(out, stripped.size());
    out += stripped;
    return true;
  }

  std::span<const std::byte> file_;
  std::string fault_;
};

}  // namespace

StrippedMessage strip_tensor_data(std::span<const std::byte> file, WireRoot root) {
  return Slimming(file).run(root == WireRoot::kModel ? Message::kModel : Message::kTensor);
}

}  // namespace relaxc::frontend
