// weights.cpp: places constants and writes them out.
#include "compiler/transform/lower/weights.h"

#include <algorithm>
#include <cstring>

namespace relaxc::lower {
namespace {

/// FNV-1a over 8-byte words, then the rest byte by byte. Equality is checked afterwards, so it need not be strong.
uint64_t hash_bytes(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  auto mix = [&](uint64_t word) { hash = (hash ^ word) * 0x100000001b3u, hash ^= hash >> 29; };
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    mix(word);
  }
  for (; at < bytes.size(); ++at) mix(static_cast<uint64_t>(bytes[at]));
  return hash;
}

/// Returns whether the bytes of one constant can serve as those of the other in either byte order.
bool same_bytes(const relax::ConstantData& a, const relax::ConstantData& b) {
  if (a.byte_size() != b.byte_size()) return false;
  const bool same_elements = a.dtype().bytes() == b.dtype().bytes();
  bool same = false;
  a.with_bytes([&](std::span<const std::byte> x) {
    b.with_bytes([&](std::span<const std::byte> y) { same = std::equal(x.begin(), x.end(), y.begin(), y.end()); });
    if (!same_elements) same &= std::all_of(x.begin(), x.end(), [&](std::byte byte) { return byte == x.front(); });
  });
  return same;
}

}  // namespace

uint64_t WeightLayout::place(const relax::ConstantRef& constant, std::string_view name) {
  auto [known, fresh] = placed_.emplace(constant.get(), 0);
  if (!fresh) return known->second;
  uint64_t hash = 0;
  constant->with_bytes([&](std::span<const std::byte> bytes) { hash = hash_bytes(bytes); });
  auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (same_bytes(*pieces_[it->second].data, *constant)) return known->second = pieces_[it->second].offset;
  uint64_t offset = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
  by_hash_.emplace(hash, pieces_.size());
  pieces_.push_back({offset, constant, std::string(name)});
  bytes_ = offset + static_cast<uint64_t>(constant->byte_size());
  return known->second = offset;
}

void WeightStream::operator()(const std::function<void(const std::byte*, size_t)>& sink) const {
  static constexpr std::byte kZeros[WeightLayout::kAlignment] = {};
  uint64_t at = 0;
  for (const Piece& piece : pieces) {
    if (piece.offset > at) sink(kZeros, static_cast<size_t>(piece.offset - at));
    piece.data->with_bytes([&](std::span<const std::byte> bytes) { sink(bytes.data(), bytes.size()); });
    at = piece.offset + static_cast<uint64_t>(piece.data->byte_size());
  }
}

interface::Weights WeightLayout::finish() const {
  interface::Weights weights;
  weights.bytes = bytes_;
  weights.alignment = kAlignment;
  weights.stream = WeightStream{pieces_};
  return weights;
}

}  // namespace relaxc::lower
