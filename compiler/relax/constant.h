// constant.h: constants, by reference to their bytes.
//
// Compiling a 500 MB model must not take gigabytes, so a constant is a reference to bytes (a slice of a mapped file, or
// a few bytes held here) and a chain of transforms (transpose, pack). Bytes are produced on demand: when folding reads
// a small constant, or piece by piece while the weights are written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/dtype.h"

namespace relaxc::relax {

/// A read-only file that is mapped as long as constants refer to it.
class MappedFile {
 public:
  virtual ~MappedFile() = default;
  virtual std::span<const std::byte> bytes() const = 0;
  virtual const std::string& path() const = 0;
};

/// Computes the bytes of a constant from those of another, for example packed ones. Must be deterministic.
struct ConstantTransform {
  std::string description;  ///< "pack [768, 768] in panels of 32"; -v shows it, and it is part of the identity
  std::function<std::vector<std::byte>(std::span<const std::byte>)> apply;
};

/// Immutable and shared; constants of equal content may be different objects.
class ConstantData {
 public:
  static std::shared_ptr<const ConstantData> inline_bytes(DType dtype, std::vector<int64_t> shape,
                                                          std::vector<std::byte> bytes);
  /// `offset` is in bytes; the slice must be inside of the file. Data is little-endian, compact row-major.
  static std::shared_ptr<const ConstantData> file_slice(DType dtype, std::vector<int64_t> shape,
                                                        std::shared_ptr<const MappedFile> file, uint64_t offset);
  static std::shared_ptr<const ConstantData> transformed(DType dtype, std::vector<int64_t> shape,
                                                         std::shared_ptr<const ConstantData> source,
                                                         ConstantTransform transform);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }  ///< all >= 0
  int64_t elements() const;
  int64_t byte_size() const { return elements() * dtype_.bytes(); }

  /// Produces the bytes and calls `use` with them; they are valid during the call. Cheap for inline and file data.
  void with_bytes(const std::function<void(std::span<const std::byte>)>& use) const;
  std::vector<std::byte> to_vector() const;
  /// Returns the bytes before all transforms.
  std::span<const std::byte> origin() const;
  /// Describes the transforms: "transpose 8x4 to axes 1,0, pack [4, 8] in panels of 32 …"; empty if there are none.
  std::string made_by() const;
  /// Returns the same bytes with another shape of as many elements.
  std::shared_ptr<const ConstantData> reshaped(std::vector<int64_t> shape) const;

 private:
  DType dtype_;
  std::vector<int64_t> shape_;
  std::vector<std::byte> inline_;
  std::shared_ptr<const MappedFile> file_;
  uint64_t offset_ = 0;
  std::shared_ptr<const ConstantData> source_;
  ConstantTransform transform_;
};
using ConstantRef = std::shared_ptr<const ConstantData>;

/// Returns the little-endian bytes of one element; `value` is rounded or wrapped to `dtype`.
std::vector<std::byte> encode_scalar(DType dtype, double value);
/// Returns the element at `data` as a double; integers beyond 2^53 are rounded.
double decode_scalar(DType dtype, const std::byte* data);
/// Returns the element of an integer or bool dtype at `data`.
int64_t decode_integer(DType dtype, const std::byte* data);

}  // namespace relaxc::relax
