// npz.cpp: reads NumPy's .npz: a zip archive with one .npy file per array.
//
// An array that is stored as the program needs it (np.savez, row-major, little-endian) is a slice of the mapped file.
// Any other array is decoded twice: now, to check it, and again when its bytes are used. So at most one such array is
// in memory at a time, however many there are.
#include "frontends/weights/npy.h"
#include "frontends/weights/weights.h"
#include "frontends/weights/zip.h"

namespace relaxc::frontend {
namespace {

constexpr std::string_view kEnding = ".npy";

class NpzReader {
 public:
  explicit NpzReader(const WeightsFile& source) : source_(source) {}

  Result<NamedConstants> run() {
    RELAXC_TRY(std::vector<ZipMember> members, zip_members(source_));
    NamedConstants constants;
    for (const ZipMember& member : members) {
      if (!member.name.ends_with(kEnding))
        return source_.error(Kind::malformed_model, "'{}' is not an array; an .npz holds .npy files", member.name);
      std::string name = member.name.substr(0, member.name.size() - kEnding.size());
      if (constants.count(name) != 0) return source_.error(Kind::malformed_model, "it holds '{}' twice", name);
      RELAXC_TRY(constants[name], array(member, name));
    }
    return constants;
  }

 private:
  Result<relax::ConstantRef> array(const ZipMember& member, const std::string& name) {
    std::span<const std::byte> packed = source_.bytes().subspan(member.offset, member.packed);
    std::vector<std::byte> first;
    uint32_t checksum = 0;
    auto look = [&](std::span<const std::byte> piece) {
      checksum = zip_checksum(checksum, piece);
      size_t more = std::min(piece.size(), kLargestNpyHead - first.size());
      first.insert(first.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(more));
    };
    if (!member.deflated)
      look(packed);
    else if (!inflate_pieces(packed, member.size, look))
      return source_.error(Kind::malformed_model, "'{}' cannot be inflated; is the file cut or changed?", name);
    if (checksum != member.checksum)
      return source_.error(Kind::malformed_model, "the checksum of '{}' is wrong; the file was changed", name);
    NpyHead head = read_npy_head(first);
    if (!head.fault.empty())
      return source_.error(head.known_dtype ? Kind::malformed_model : Kind::unsupported, "the array '{}' {}", name,
                           head.fault);
    std::optional<uint64_t> size = checked_size(head.shape, head.dtype);
    if (!size || *size != member.size - head.bytes)
      return source_.error(Kind::malformed_model, "the array '{}' has {} bytes for [{}] of {}", name,
                           member.size - head.bytes, fmt::join(head.shape, ", "), to_string(head.dtype));
    return constant(member, head);
  }

  relax::ConstantRef constant(const ZipMember& member, const NpyHead& head) const {
    bool plain = !head.swapped && (!head.column_major || head.shape.size() < 2);
    if (plain && !member.deflated)
      return relax::ConstantData::file_slice(head.dtype, head.shape, source_.file, member.offset + head.bytes);
    auto packed = relax::ConstantData::file_slice(DType::u(8), {static_cast<int64_t>(member.packed)}, source_.file,
                                                  member.offset);
    auto apply = [member, head](std::span<const std::byte> from) {
      std::vector<std::byte> bytes;
      bytes.reserve(member.size);
      auto keep = [&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); };
      if (!member.deflated)
        keep(from);
      else
        RELAXC_CHECK(inflate_pieces(from, member.size, keep), "a file of weights changed while it was read");
      bytes.erase(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(head.bytes));
      return plain_elements(head, std::move(bytes));
    };
    return relax::ConstantData::transformed(head.dtype, head.shape, packed, {"read " + member.name, apply});
  }

  const WeightsFile& source_;
};

}  // namespace

Result<NamedConstants> read_npz(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                Diagnostics& diag) {
  WeightsFile source{file, where, diag};
  return NpzReader(source).run();
}

}  // namespace relaxc::frontend
