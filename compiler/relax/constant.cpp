// constant.cpp: produces the bytes of constants on demand.
#include "compiler/relax/constant.h"

#include "compiler/relax/mapped_file.h"
#include "compiler/support/check.h"

namespace relaxc::relax {

ConstantRef ConstantData::inline_bytes(DType dtype, std::vector<int64_t> shape, std::vector<std::byte> bytes) {
  auto data = std::make_shared<ConstantData>();
  data->dtype_ = dtype;
  data->shape_ = std::move(shape);
  data->inline_ = std::move(bytes);
  RELAXC_CHECK(static_cast<int64_t>(data->inline_.size()) == data->byte_size(),
               "a constant with too few or too many bytes");
  return data;
}

ConstantRef ConstantData::file_slice(DType dtype, std::vector<int64_t> shape, std::shared_ptr<const MappedFile> file,
                                     uint64_t offset) {
  auto data = std::make_shared<ConstantData>();
  data->dtype_ = dtype;
  data->shape_ = std::move(shape);
  data->file_ = std::move(file);
  data->offset_ = offset;
  uint64_t size = data->file_->bytes().size();
  RELAXC_CHECK(offset <= size && static_cast<uint64_t>(data->byte_size()) <= size - offset, "a slice beyond its file");
  return data;
}

ConstantRef ConstantData::transformed(DType dtype, std::vector<int64_t> shape, ConstantRef source,
                                      ConstantTransform transform) {
  auto data = std::make_shared<ConstantData>();
  data->dtype_ = dtype;
  data->shape_ = std::move(shape);
  data->source_ = std::move(source);
  data->transform_ = std::move(transform);
  return data;
}

int64_t ConstantData::elements() const {
  int64_t count = 1;
  for (int64_t dim : shape_) count *= dim;
  return count;
}

void ConstantData::with_bytes(const std::function<void(std::span<const std::byte>)>& use) const {
  if (source_ != nullptr) {
    std::vector<std::byte> bytes;
    source_->with_bytes([&](std::span<const std::byte> from) { bytes = transform_.apply(from); });
    RELAXC_CHECK(static_cast<int64_t>(bytes.size()) == byte_size(), transform_.description + " gave another size");
    use(bytes);
  } else if (file_ != nullptr) {
    std::span<const std::byte> part = file_->bytes().subspan(offset_, static_cast<size_t>(byte_size()));
    use(part);
    set_aside(*file_, part);
  } else {
    use(inline_);
  }
}

std::span<const std::byte> ConstantData::origin() const {
  if (source_ != nullptr) return source_->origin();
  if (file_ != nullptr) return file_->bytes().subspan(offset_, static_cast<size_t>(byte_size()));
  return inline_;
}

std::string ConstantData::made_by() const {
  if (source_ == nullptr) return {};
  std::string before = source_->made_by();
  return before + (before.empty() ? "" : ", ") + transform_.description;
}

std::vector<std::byte> ConstantData::to_vector() const {
  std::vector<std::byte> out;
  with_bytes([&](std::span<const std::byte> bytes) { out.assign(bytes.begin(), bytes.end()); });
  return out;
}

ConstantRef ConstantData::reshaped(std::vector<int64_t> shape) const {
  auto data = std::make_shared<ConstantData>(*this);
  data->shape_ = std::move(shape);
  RELAXC_CHECK(data->elements() == elements(), "a reshape that changes the number of elements");
  return data;
}

}  // namespace relaxc::relax
