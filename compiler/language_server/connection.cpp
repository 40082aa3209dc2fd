// connection.cpp: reads and writes messages by poll, read and write.
#include "compiler/language_server/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace relaxc::language_server {
namespace {

constexpr size_t kPiece = size_t{64} << 10, kLongestHeader = 256;
constexpr int kDeepest = 64;  ///< levels of JSON; messages of the protocol have fewer than ten

/// Parses JSON; a reason in `why` if it is invalid. Levels beyond kDeepest are parsed and not kept.
Json parse(const std::string& text, std::string& why) {
  bool deep = false;
  auto keep = [&](int depth, Json::parse_event_t, Json&) {
    deep |= depth > kDeepest;
    return depth <= kDeepest;
  };
  try {
    Json parsed = Json::parse(text, keep);
    if (deep) why = "the message is nested too deeply";
    return parsed;
  } catch (const Json::exception& error) {
    why = error.what();
    return nullptr;
  }
}

}  // namespace

std::optional<std::variant<Json, Connection::Invalid>> Connection::read() {
  std::string why;
  const std::optional<uint64_t> length = content_length(why);
  if (!length) return std::nullopt;
  if (!why.empty()) return Invalid{why};
  if (*length > kLargestMessage) {
    if (!skip(*length)) return std::nullopt;
    return Invalid{fmt::format("a message has {} bytes, at most {} are read", *length, kLargestMessage)};
  }
  const auto count = static_cast<size_t>(*length);
  if (!fill(count)) return std::nullopt;
  Json message = parse(buffer_.substr(0, count), why);
  buffer_.erase(0, count);
  if (buffer_.empty()) buffer_.shrink_to_fit();
  if (!why.empty()) return Invalid{why};
  return message;
}

std::optional<uint64_t> Connection::content_length(std::string& why) {
  std::optional<uint64_t> length;
  for (bool any = false;; any = true) {
    std::optional<std::string> line = header_line();
    if (!line) return std::nullopt;
    if (line->empty() && !any) return why = "a header without a field", 0;
    if (line->empty()) break;
    constexpr std::string_view kName = "content-length:";
    std::string name = line->substr(0, kName.size());
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    if (name != kName) continue;
    const char* begin = line->data() + std::min(line->find_first_not_of(' ', kName.size()), line->size());
    const char* end = line->data() + line->size();
    uint64_t value = 0;
    auto [stopped, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range) value = UINT64_MAX;
    if (begin == stopped || stopped != end) continue;
    length = value;
  }
  if (!length) why = "a header has no valid Content-Length";
  return length.value_or(0);
}

std::optional<std::string> Connection::header_line() {
  std::string line;
  for (;;) {
    if (!fill(1)) return std::nullopt;
    const size_t end = buffer_.find('\n');
    const size_t count = std::min(end, buffer_.size());
    line += buffer_.substr(0, std::min(count, kLongestHeader - std::min(kLongestHeader, line.size())));
    buffer_.erase(0, end == std::string::npos ? count : end + 1);
    if (end == std::string::npos) continue;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
  }
}

bool Connection::fill(size_t count) {
  while (buffer_.size() < count) {
    const size_t had = buffer_.size();
    buffer_.resize(had + std::max(kPiece, std::min(count - had, had)));
    ssize_t got = ::read(input_, buffer_.data() + had, buffer_.size() - had);
    if (got < 0 && errno == EINTR)
      got = 0, buffer_.resize(had);
    else if (got <= 0)
      return buffer_.resize(had), false;
    buffer_.resize(had + static_cast<size_t>(got));
  }
  return true;
}

bool Connection::skip(uint64_t count) {
  while (count > 0) {
    if (!fill(1)) return false;
    const auto piece = static_cast<size_t>(std::min<uint64_t>(count, buffer_.size()));
    buffer_.erase(0, piece);
    count -= piece;
  }
  return true;
}

bool Connection::has_input(int milliseconds) const {
  if (!buffer_.empty()) return true;
  pollfd one{input_, POLLIN, 0};
  return ::poll(&one, 1, milliseconds) > 0;
}

void Connection::write(const Json& message) {
  const std::string body = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string all = fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
  for (size_t at = 0; at < all.size();) {
    const ssize_t put = ::write(output_, all.data() + at, all.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    at += static_cast<size_t>(put);
  }
}

void Connection::notify(const char* method, Json params) {
  write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

void Connection::answer(const Json& id, Json result) {
  write({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Connection::refuse(const Json& id, ErrorCode code, const std::string& why) {
  write({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", why}}}});
}

}  // namespace relaxc::language_server
