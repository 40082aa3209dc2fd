// tensor.cpp: reads a TensorProto as a constant.
//
// A tensor has its values in one of several fields: raw_data (little-endian bytes), external data (the same, in another
// file), or one of five lists with a rule of its own for each dtype. The first two become slices of mapped files and
// cost nothing; the lists, which exporters use for small tensors, are encoded to bytes here.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "frontends/onnx/load.h"

namespace relaxc::frontend {
namespace {

using onnx::TensorProto;
using relax::ConstantData;
using relax::ConstantRef;

struct DataType {
  int32_t code;
  std::string_view name;
  std::optional<DType> dtype;
};
constexpr DataType kDataTypes[] = {
    {TensorProto::FLOAT, "float", DType::f(32)},
    {TensorProto::UINT8, "uint8", DType::u(8)},
    {TensorProto::INT8, "int8", DType::i(8)},
    {TensorProto::UINT16, "uint16", DType::u(16)},
    {TensorProto::INT16, "int16", DType::i(16)},
    {TensorProto::INT32, "int32", DType::i(32)},
    {TensorProto::INT64, "int64", DType::i(64)},
    {TensorProto::STRING, "string", std::nullopt},
    {TensorProto::BOOL, "bool", DType::boolean()},
    {TensorProto::FLOAT16, "float16", DType::f(16)},
    {TensorProto::DOUBLE, "double", DType::f(64)},
    {TensorProto::UINT32, "uint32", DType::u(32)},
    {TensorProto::UINT64, "uint64", DType::u(64)},
    {TensorProto::COMPLEX64, "complex64", std::nullopt},
    {TensorProto::COMPLEX128, "complex128", std::nullopt},
    {TensorProto::BFLOAT16, "bfloat16", DType::bf16()},
    {TensorProto::FLOAT8E4M3FN, "float8e4m3fn", DType{TypeCode::kFloat8E4M3FN, 8}},
    {TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", DType{TypeCode::kFloat8E4M3FNUZ, 8}},
    {TensorProto::FLOAT8E5M2, "float8e5m2", DType{TypeCode::kFloat8E5M2, 8}},
    {TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", DType{TypeCode::kFloat8E5M2FNUZ, 8}},
    {TensorProto::UINT4, "uint4", DType::u(4)},
    {TensorProto::INT4, "int4", DType::i(4)},
    {TensorProto::FLOAT4E2M1, "float4e2m1", DType{TypeCode::kFloat4E2M1FN, 4}},
    {TensorProto::FLOAT8E8M0, "float8e8m0", DType{TypeCode::kFloat8E8M0FNU, 8}},
    {TensorProto::UINT2, "uint2", DType::u(2)},
    {TensorProto::INT2, "int2", DType::i(2)},
};

const DataType* find_data_type(int32_t code) {
  for (const DataType& type : kDataTypes)
    if (type.code == code) return &type;
  return nullptr;
}

bool is_packed(DType dtype) {
  return dtype.bits < 8;
}

/// Returns the size of `elements` in raw data, in bytes; dtypes of less than a byte are packed, lowest bits first.
int64_t raw_size(DType dtype, int64_t elements) {
  return is_packed(dtype) ? (elements * dtype.bits + 7) / 8 : elements * dtype.bytes();
}

/// Returns one byte per element, sign-extended for signed dtypes.
std::vector<std::byte> unpack(DType dtype, int64_t elements, std::span<const std::byte> packed) {
  std::vector<std::byte> out(static_cast<size_t>(elements));
  int per_byte = 8 / dtype.bits, mask = (1 << dtype.bits) - 1, sign = 1 << (dtype.bits - 1);
  for (size_t i = 0; i < out.size(); ++i) {
    int bits = static_cast<int>(packed[i / static_cast<size_t>(per_byte)]);
    bits = bits >> (static_cast<int>(i % static_cast<size_t>(per_byte)) * dtype.bits) & mask;
    out[i] = static_cast<std::byte>(dtype.is_int() && (bits & sign) != 0 ? bits - (mask + 1) : bits);
  }
  return out;
}

template <typename To, typename List>
std::vector<std::byte> encode(const List& list) {
  std::vector<std::byte> out(static_cast<size_t>(list.size()) * sizeof(To));
  size_t at = 0;
  for (auto value : list) {
    To element = static_cast<To>(value);
    std::memcpy(out.data() + at, &element, sizeof(To));
    at += sizeof(To);
  }
  return out;
}

class TensorReader {
 public:
  TensorReader(const TensorProto& tensor, ModelFiles& files, Location where, Diagnostics& diag)
      : tensor_(tensor), files_(files), where_(where), diag(diag) {}

  Result<ConstantRef> run() {
    RELAXC_DO(read_type());
    if (tensor_.data_location() == TensorProto::EXTERNAL) return external();
    if (tensor_.has_raw_length()) return slice(files_.model(), tensor_.raw_offset(), tensor_.raw_length(), "raw data");
    return listed();
  }

 private:
  std::string called() const { return tensor_.name().empty() ? "a tensor" : "tensor '" + tensor_.name() + "'"; }

  Status read_type() {
    RELAXC_TRY(dtype_, dtype_of(tensor_.data_type(), where_, diag));
    if (tensor_.has_segment())
      return diag.error(where_, Kind::unsupported, "{} is stored in segments, which no exporter does", called());
    for (int64_t dim : tensor_.dims()) {
      if (dim < 0) return diag.error(where_, Kind::invalid_value, "{} has a negative dim, {}", called(), dim);
      if (__builtin_mul_overflow(elements_, dim, &elements_) || elements_ > kMostElements)
        return diag.error(where_, Kind::overflow, "the size of {} overflows", called());
      shape_.push_back(dim);
    }
    return Done{};
  }

  Result<ConstantRef> slice(std::shared_ptr<const relax::MappedFile> file, uint64_t offset, uint64_t length,
                            std::string_view kind) {
    uint64_t expected = static_cast<uint64_t>(raw_size(dtype_, elements_));
    if (length != expected)
      return diag.error(where_, Kind::malformed_model, "{} has {} bytes of {}, but its shape and type need {}",
                        called(), length, kind, expected);
    if (!is_packed(dtype_)) return ConstantData::file_slice(dtype_, shape_, std::move(file), offset);
    auto packed = ConstantData::file_slice(DType::u(8), {static_cast<int64_t>(length)}, std::move(file), offset);
    return ConstantData::transformed(dtype_, shape_, std::move(packed),
                                     {"unpack " + to_string(dtype_),
                                      [dtype = dtype_, n = elements_](auto bytes) { return unpack(dtype, n, bytes); }});
  }

  Result<uint64_t> number(const std::string& key, const std::string& text) {
    uint64_t value = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size())
      return diag.error(where_, Kind::malformed_model, "external data of {} has {} '{}', which is not a byte count",
                        called(), key, text);
    return value;
  }

  Result<ConstantRef> external() {
    std::string location;
    uint64_t offset = 0;
    std::optional<uint64_t> length;
    for (const auto& entry : tensor_.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() == "offset") {
        RELAXC_TRY(offset, number(entry.key(), entry.value()));
      }
      if (entry.key() == "length") {
        RELAXC_TRY(length, number(entry.key(), entry.value()));
      }
    }
    RELAXC_TRY(std::shared_ptr<const relax::MappedFile> file, files_.external(location, where_, diag));
    uint64_t size = file->bytes().size(), needed = static_cast<uint64_t>(raw_size(dtype_, elements_));
    uint64_t taken = length.value_or(needed);
    if (offset > size || taken > size - offset)
      return diag.error(where_, Kind::missing_data, "{} is at bytes {} to {} of external data '{}', which has only {}",
                        called(), offset, offset + taken, location, size);
    return slice(std::move(file), offset, taken, "external data");
  }

  /// Returns the values of the typed list that ONNX prescribes for the dtype.
  Result<ConstantRef> listed() {
    std::vector<std::byte> bytes;
    const auto& small = tensor_.int32_data();
    if (is_packed(dtype_)) {
      bytes = encode<uint8_t>(small);
      if (static_cast<int64_t>(bytes.size()) == raw_size(dtype_, elements_)) bytes = unpack(dtype_, elements_, bytes);
    } else if (dtype_ == DType::f(32)) {
      bytes = encode<float>(tensor_.float_data());
    } else if (dtype_ == DType::f(64)) {
      bytes = encode<double>(tensor_.double_data());
    } else if (dtype_ == DType::i(64)) {
      bytes = encode<int64_t>(tensor_.int64_data());
    } else if (dtype_ == DType::u(64)) {
      bytes = encode<uint64_t>(tensor_.uint64_data());
    } else if (dtype_ == DType::u(32)) {
      bytes = encode<uint32_t>(tensor_.uint64_data());
    } else if (dtype_.is_bool()) {
      bytes = encode<bool>(small);
    } else if (dtype_.bytes() == 1) {
      bytes = encode<uint8_t>(small);
    } else if (dtype_.bytes() == 2) {
      bytes = encode<uint16_t>(small);
    } else {
      bytes = encode<int32_t>(small);
    }
    if (static_cast<int64_t>(bytes.size()) != elements_ * dtype_.bytes())
      return diag.error(where_, Kind::malformed_model, "{} has {} values, but its shape needs {}", called(),
                        static_cast<int64_t>(bytes.size()) / dtype_.bytes(), elements_);
    return ConstantData::inline_bytes(dtype_, shape_, std::move(bytes));
  }

  /// Maximum number of elements, so that the size in bytes fits int64 for every dtype.
  static constexpr int64_t kMostElements = INT64_MAX / 16;

  const TensorProto& tensor_;
  ModelFiles& files_;
  Location where_;
  Diagnostics& diag;
  DType dtype_;
  std::vector<int64_t> shape_;
  int64_t elements_ = 1;
};

}  // namespace

std::string data_type_name(int32_t data_type) {
  const DataType* type = find_data_type(data_type);
  return type == nullptr ? "data type " + std::to_string(data_type) : std::string(type->name);
}

std::optional<int32_t> data_type_of(DType dtype) {
  for (const DataType& type : kDataTypes)
    if (type.dtype == dtype) return type.code;
  return std::nullopt;
}

Result<DType> dtype_of(int32_t data_type, Location where, Diagnostics& diag) {
  const DataType* type = find_data_type(data_type);
  if (type == nullptr)
    return diag.error(where, Kind::malformed_model, "there is no element type with number {}", data_type);
  if (!type->dtype) return diag.error(where, Kind::unsupported, "tensors of {} are not supported", type->name);
  return *type->dtype;
}

Result<ConstantRef> tensor_constant(const TensorProto& tensor, ModelFiles& files, Location where, Diagnostics& diag) {
  return TensorReader(tensor, files, where, diag).run();
}

}  // namespace relaxc::frontend
