// connection.h: messages of the language server protocol on two file descriptors.
//
// A message is a header block (`Content-Length: 42`, a blank line) and that many bytes of JSON. The other side may send
// anything, so what is kept of a message is bounded: a longer one is read past and reported, and so is a header without
// a length, deep nesting, and bytes that are not JSON in UTF-8.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

namespace relaxc::language_server {

using Json = nlohmann::json;

/// Codes of errors in responses, from JSON-RPC and the protocol.
enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kNotInitialized = -32002,
};

class Connection {
 public:
  /// The largest message that is read, in bytes.
  static constexpr uint64_t kLargestMessage = uint64_t{32} << 20;

  Connection(int input, int output) : input_(input), output_(output) {}

  struct Invalid {
    std::string why;
  };
  /// Returns the next message, or why it is invalid; nullopt at the end of the input. Blocks.
  std::optional<std::variant<Json, Invalid>> read();
  /// Returns whether the input has something to read, or has ended; waits for that at most this long.
  bool has_input(int milliseconds) const;

  /// Writes a message. Text that is not UTF-8 gets replacement characters. Does nothing if the reader has gone.
  void write(const Json& message);
  void notify(const char* method, Json params);
  void answer(const Json& id, Json result);
  void refuse(const Json& id, ErrorCode code, const std::string& why);

 private:
  /// Makes `count` bytes available in the buffer; false at the end of the input.
  bool fill(size_t count);
  /// Reads past bytes without keeping them; false at the end of the input.
  bool skip(uint64_t count);
  /// Reads a line of a header block, without its end; nullopt at the end of the input. Of a long line, the beginning.
  std::optional<std::string> header_line();
  /// Returns the length that a header block gives, and 0 with a reason in `why` if it gives none; nullopt at the end.
  std::optional<uint64_t> content_length(std::string& why);

  int input_, output_;
  std::string buffer_;
};

}  // namespace relaxc::language_server
