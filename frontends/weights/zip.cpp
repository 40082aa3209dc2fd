// zip.cpp: reads the members of a zip archive, as PKWARE's APPNOTE describes it.
//
// The directory at the end is authoritative. Of a member's own header only its length is used, since streaming writers
// leave out sizes there. zlib inflates.
#include "frontends/weights/zip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace relaxc::frontend {
namespace {

constexpr uint64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kEntryBytes = 46, kLocalBytes = 30;
constexpr uint32_t kEndMark = 0x06054b50, kLocatorMark = 0x07064b50, kEnd64Mark = 0x06064b50;
constexpr uint32_t kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr uint32_t kElsewhere32 = 0xffffffff;
constexpr uint64_t kInflatedAtLeast = uint64_t{1} << 28, kInflatedTimes = 64;  // bytes; multiple of the file's size
constexpr uint16_t kEncrypted = 1, kZip64 = 1, kStored = 0, kDeflated = 8;

class ZipReader {
 public:
  explicit ZipReader(const WeightsFile& source) : source_(source) {}

  Result<std::vector<ZipMember>> run() {
    RELAXC_DO(find_directory());
    uint64_t at = directory_;
    for (uint64_t i = 0; i < entries_; ++i) {
      if (at - directory_ > directory_bytes_ || directory_bytes_ - (at - directory_) < kEntryBytes)
        return bad("its directory is cut after {} of {} entries", i, entries_);
      RELAXC_TRY(at, entry(at));
    }
    RELAXC_DO(check_disjoint());
    RELAXC_DO(check_inflated());
    return std::move(members_);
  }

 private:
  template <typename T>
  T read(uint64_t at) const {
    T value;
    std::memcpy(&value, source_.bytes().data() + at, sizeof value);
    return value;
  }

  /// The end record is the last thing in the file except for a comment, whose length it contains.
  Status find_directory() {
    uint64_t size = source_.bytes().size();
    if (size < kEndBytes) return bad("it is too short");
    uint64_t first = size - std::min<uint64_t>(size, kEndBytes + 0xffff);
    for (uint64_t end = size - kEndBytes + 1; end-- > first;) {
      if (read<uint32_t>(end) != kEndMark || end + kEndBytes + read<uint16_t>(end + 20) != size) continue;
      entries_ = read<uint16_t>(end + 10);
      directory_bytes_ = read<uint32_t>(end + 12);
      directory_ = read<uint32_t>(end + 16);
      bool elsewhere = entries_ == 0xffff || directory_bytes_ == kElsewhere32 || directory_ == kElsewhere32;
      if (elsewhere) RELAXC_DO(find_directory64(end));
      if (!source_.holds(directory_, directory_bytes_)) return bad("its directory is outside of it");
      return Done{};
    }
    return bad("it has no directory at its end; is it cut?");
  }

  Status find_directory64(uint64_t end) {
    if (end < kLocatorBytes || read<uint32_t>(end - kLocatorBytes) != kLocatorMark)
      return Done{};  // no 64-bit directory: the numbers just look like it
    uint64_t at = read<uint64_t>(end - kLocatorBytes + 8);
    if (!source_.holds(at, kEnd64Bytes) || read<uint32_t>(at) != kEnd64Mark)
      return bad("its 64-bit directory is outside of it");
    entries_ = read<uint64_t>(at + 32);
    directory_bytes_ = read<uint64_t>(at + 40);
    directory_ = read<uint64_t>(at + 48);
    return Done{};
  }

  /// Reads an entry and returns the offset of the next. Its fixed part is known to lie in the directory.
  Result<uint64_t> entry(uint64_t at) {
    if (read<uint32_t>(at) != kEntryMark) return bad("entry {} of its directory is invalid", members_.size());
    uint64_t name_bytes = read<uint16_t>(at + 28), extra_bytes = read<uint16_t>(at + 30);
    uint64_t next = at + kEntryBytes + name_bytes + extra_bytes + read<uint16_t>(at + 32);
    if (next > directory_ + directory_bytes_) return bad("entry {} of its directory is cut", members_.size());
    ZipMember member;
    member.name = std::string(source_.text(at + kEntryBytes, name_bytes));
    member.checksum = read<uint32_t>(at + 16);
    member.packed = read<uint32_t>(at + 20);
    member.size = read<uint32_t>(at + 24);
    uint64_t local = read<uint32_t>(at + 42);
    if (!wide_fields(at + kEntryBytes + name_bytes, extra_bytes, {&member.size, &member.packed, &local}))
      return bad("'{}' has a 64-bit size that is cut", member.name);
    if ((read<uint16_t>(at + 8) & kEncrypted) != 0)
      return source_.error(Kind::unsupported, "'{}' is encrypted", member.name);
    uint16_t method = read<uint16_t>(at + 10);
    if (method != kStored && method != kDeflated)
      return source_.error(Kind::unsupported, "'{}' is compressed by method {}; stored and deflated are read",
                           member.name, method);
    member.deflated = method == kDeflated;
    RELAXC_DO(locate(member, local));
    members_.push_back(std::move(member));
    return next;
  }

  /// Reads fields that are 0xffffffff from the extra field with id 1, which has their 64-bit values in this order.
  bool wide_fields(uint64_t at, uint64_t bytes, std::array<uint64_t*, 3> fields) const {
    bool wanted = std::any_of(fields.begin(), fields.end(), [](const uint64_t* f) { return *f == kElsewhere32; });
    for (uint64_t end = at + bytes; wanted && end - at >= 4;) {
      uint64_t length = read<uint16_t>(at + 2), from = at + 4;
      if (length > end - from) return false;
      if (read<uint16_t>(at) == kZip64) {
        for (uint64_t* field : fields) {
          if (*field != kElsewhere32) continue;
          if (from + 8 > at + 4 + length) return false;
          *field = read<uint64_t>(from);
          from += 8;
        }
        return true;
      }
      at += 4 + length;
    }
    return !wanted;
  }

  Status locate(ZipMember& member, uint64_t local) {
    if (!source_.holds(local, kLocalBytes) || read<uint32_t>(local) != kLocalMark)
      return bad("'{}' is not where its directory says", member.name);
    member.offset = local + kLocalBytes + read<uint16_t>(local + 26) + read<uint16_t>(local + 28);
    if (!source_.holds(member.offset, member.packed)) return bad("it is cut inside '{}'", member.name);
    if (!member.deflated && member.packed != member.size) return bad("'{}' has two sizes", member.name);
    return Done{};
  }

  /// Members that share bytes could make a small archive inflate to any size.
  Status check_disjoint() {
    std::vector<const ZipMember*> sorted;
    for (const ZipMember& member : members_)
      if (member.packed != 0) sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(),
              [](const ZipMember* a, const ZipMember* b) { return a->offset < b->offset; });
    for (size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i]->offset - sorted[i - 1]->offset < sorted[i - 1]->packed)
        return bad("'{}' and '{}' share bytes", sorted[i - 1]->name, sorted[i]->name);
    return Done{};
  }

  Status check_inflated() {
    uint64_t budget = std::max(kInflatedAtLeast, source_.bytes().size() * kInflatedTimes), sum = 0;
    for (const ZipMember& member : members_) {
      if (!member.deflated) continue;
      if (member.size > budget - sum)
        return source_.error(Kind::unsupported,
                             "its arrays are inflated to more than {} bytes, the budget of a file of {} bytes; if it "
                             "is meant so, store them without compression (numpy.savez)",
                             budget, source_.bytes().size());
      sum += member.size;
    }
    return Done{};
  }

  template <typename... Args>
  Failure bad(fmt::format_string<Args...> why, Args&&... args) {
    return source_.error(Kind::malformed_model, "not a zip archive: {}", fmt::format(why, std::forward<Args>(args)...));
  }

  const WeightsFile& source_;
  uint64_t entries_ = 0, directory_ = 0, directory_bytes_ = 0;
  std::vector<ZipMember> members_;
};

/// Frees zlib's state when it goes out of scope.
struct Inflation {
  z_stream stream{};
  ~Inflation() { inflateEnd(&stream); }
};

}  // namespace

Result<std::vector<ZipMember>> zip_members(const WeightsFile& source) {
  return ZipReader(source).run();
}

bool inflate_pieces(std::span<const std::byte> packed, uint64_t size,
                    const std::function<void(std::span<const std::byte>)>& piece) {
  constexpr size_t kPiece = 1 << 16;
  constexpr int kRaw = -MAX_WBITS;  // raw deflate, without a header of zlib or gzip
  Inflation inflation;
  z_stream& stream = inflation.stream;
  if (inflateInit2(&stream, kRaw) != Z_OK) throw std::bad_alloc();
  std::array<std::byte, kPiece> out;
  uint64_t given = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      size_t count = std::min<size_t>(packed.size(), 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
      stream.avail_in = static_cast<uInt>(count);
      packed = packed.subspan(count);
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = kPiece;
    status = inflate(&stream, Z_NO_FLUSH);
    size_t made = kPiece - stream.avail_out;
    bool stuck = made == 0 && stream.avail_in == 0 && packed.empty() && status != Z_STREAM_END;
    if ((status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) || stuck || made > size - given)
      return false;
    given += made;
    piece({out.data(), made});
  }
  return given == size;
}

uint32_t zip_checksum(uint32_t so_far, std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace relaxc::frontend
