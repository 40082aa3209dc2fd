// constant.h: model data by reference.
//
// A 500 MB model must not need gigabytes to compile, so a constant is where its bytes are (a slice of a mapped file, or
// a few bytes held here) plus a lazy chain of transforms (transpose, pack). Bytes are produced when somebody asks,
// piece by piece: when folding needs a small one, or while the weight blob is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/dtype.h"

namespace relaxc::relax {

/// A read-only file that stays mapped while constants refer to it.
class MappedFile {
 public:
  virtual ~MappedFile() = default;
  virtual std::span<const std::byte> bytes() const = 0;
  virtual const std::string& path() const = 0;
};

/// Turns the bytes of a constant into those of another, e.g. a packed one. Must be deterministic.
struct ConstantTransform {
  std::string description;  ///< "pack [768, 768] in panels of 32": shown by -v and part of the identity
  std::function<std::vector<std::byte>(std::span<const std::byte>)> apply;
};

/// Immutable and shared; equal content need not be the same object.
class ConstantData {
 public:
  static std::shared_ptr<const ConstantData> inline_bytes(DType dtype, std::vector<int64_t> shape,
                                                          std::vector<std::byte> bytes);
  /// `offset` in bytes; the slice must be in the file. Data is little-endian, compact row-major.
  static std::shared_ptr<const ConstantData> file_slice(DType dtype, std::vector<int64_t> shape,
                                                        std::shared_ptr<const MappedFile> file, uint64_t offset);
  static std::shared_ptr<const ConstantData> transformed(DType dtype, std::vector<int64_t> shape,
                                                         std::shared_ptr<const ConstantData> source,
                                                         ConstantTransform transform);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }  ///< all >= 0
  int64_t elements() const;
  int64_t byte_size() const { return elements() * dtype_.bytes(); }

  /// The bytes, produced now. Cheap for inline and file data: calls `use` with a view that lives during the call only.
  void with_bytes(const std::function<void(std::span<const std::byte>)>& use) const;
  std::vector<std::byte> to_vector() const;
  /// What the chain of transforms begins with.
  std::span<const std::byte> origin() const;
  /// The chain: "transpose 8x4 to axes 1,0, pack [4, 8] in panels of 32 …"; empty if the bytes are those of the origin.
  std::string made_by() const;
  /// Same dtype and shape, other view of the same bytes (element counts agree).
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

/// The little-endian bytes of one element; `value` is rounded or wrapped to `dtype`.
std::vector<std::byte> encode_scalar(DType dtype, double value);
/// The element at `data` as a double (integers beyond 2^53 round).
double decode_scalar(DType dtype, const std::byte* data);
/// The element of an integer or bool dtype at `data`.
int64_t decode_integer(DType dtype, const std::byte* data);

}  // namespace relaxc::relax
