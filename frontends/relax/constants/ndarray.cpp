// ndarray.cpp: reads tensors in the format of TVM's texts and parameter files.
#include "frontends/relax/constants/ndarray.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "frontends/relax/constants/base64.h"

namespace relaxc::frontend {
namespace {

constexpr uint64_t kMagic = 0xDD5E40F096B4A13F;

struct Code {
  uint8_t code, bits;
  DType dtype;
};
// clang-format off
constexpr Code kCodes[] = {
    {0, 8, DType::i(8)},  {0, 16, DType::i(16)}, {0, 32, DType::i(32)}, {0, 64, DType::i(64)}, {0, 4, DType::i(4)},
    {1, 8, DType::u(8)},  {1, 16, DType::u(16)}, {1, 32, DType::u(32)}, {1, 64, DType::u(64)}, {1, 4, DType::u(4)},
    {1, 1, DType::boolean()},
    {2, 16, DType::f(16)}, {2, 32, DType::f(32)}, {2, 64, DType::f(64)}, {4, 16, DType::bf16()},
    {5, 64, {TypeCode::kComplex, 64}}, {5, 128, {TypeCode::kComplex, 128}},
};
constexpr Code kCodesBefore[] = {{6, 8, {TypeCode::kFloat8E4M3FN, 8}}, {7, 8, {TypeCode::kFloat8E5M2, 8}}};
constexpr Code kCodesOfDlpack1[] = {
    {6, 8, DType::boolean()}, {6, 1, DType::boolean()},
    {10, 8, {TypeCode::kFloat8E4M3FN, 8}}, {11, 8, {TypeCode::kFloat8E4M3FNUZ, 8}},
    {12, 8, {TypeCode::kFloat8E5M2, 8}}, {13, 8, {TypeCode::kFloat8E5M2FNUZ, 8}},
    {14, 8, {TypeCode::kFloat8E8M0FNU, 8}},
};
// clang-format on

std::optional<DType> dtype_of(uint8_t code, uint8_t bits, NdarrayFormat age) {
  auto fits = [&](const Code& row) { return row.code == code && row.bits == bits; };
  std::span<const Code> later = kCodesOfDlpack1, before = kCodesBefore;
  for (std::span<const Code> table : {std::span<const Code>(kCodes), age == NdarrayFormat::kBefore ? before : later})
    if (auto row = std::find_if(table.begin(), table.end(), fits); row != table.end()) return row->dtype;
  return std::nullopt;
}

/// Reads numbers from the front of the bytes; `cut` is set once there are too few.
struct Bytes {
  std::span<const std::byte> rest;
  bool cut = false;

  template <typename T>
  T take() {
    T value{};
    if (rest.size() < sizeof(T)) return cut = true, value;
    std::memcpy(&value, rest.data(), sizeof(T));
    rest = rest.subspan(sizeof(T));
    return value;
  }
};

NdarrayResult refuse(std::string fault) {
  return {nullptr, std::move(fault)};
}

}  // namespace

NdarrayResult read_ndarray(std::string_view base64, NdarrayFormat age) {
  std::optional<std::vector<std::byte>> decoded = decode_base64(base64);
  if (!decoded) return refuse("is not base64");
  Bytes in{*decoded};
  uint64_t magic = in.take<uint64_t>();
  in.take<uint64_t>();  // reserved
  in.take<uint64_t>();  // the device is irrelevant: the data was copied to the host before it was written
  int32_t rank = in.take<int32_t>();
  uint8_t code = in.take<uint8_t>(), bits = in.take<uint8_t>();
  uint16_t lanes = in.take<uint16_t>();
  if (in.cut) return refuse("is cut: it is shorter than the head of a tensor");
  if (magic != kMagic)
    return refuse(fmt::format("is not a tensor: it starts with {:#x}, not with {:#x}", magic, kMagic));
  std::optional<DType> dtype = dtype_of(code, bits, age);
  if (!dtype || lanes != 1)
    return refuse(fmt::format("has a dtype that is not known (code {}, {} bits, {} lanes)", code, bits, lanes));
  if (rank < 0 || static_cast<uint64_t>(rank) * 8 > in.rest.size())
    return refuse(fmt::format("is cut, or its rank {} is wrong", rank));
  std::vector<int64_t> shape;
  int64_t size = dtype->bytes();
  bool whole = true;
  for (int32_t i = 0; i < rank; ++i) {
    shape.push_back(in.take<int64_t>());
    whole = whole && shape.back() >= 0 && !__builtin_mul_overflow(size, shape.back(), &size);
  }
  int64_t given = in.take<int64_t>();
  if (in.cut || !whole || given != size || static_cast<uint64_t>(size) != in.rest.size())
    return refuse(fmt::format("is cut, or its size is wrong: {} bytes for [{}] of {}", in.rest.size(),
                              fmt::join(shape, ", "), to_string(*dtype)));
  bool wrong_bool =
      dtype->is_bool() && std::any_of(in.rest.begin(), in.rest.end(), [](std::byte b) { return b > std::byte{1}; });
  if (wrong_bool) return refuse("has a bool that is neither 0 nor 1");
  return {relax::ConstantData::inline_bytes(*dtype, std::move(shape), {in.rest.begin(), in.rest.end()}), {}};
}

}  // namespace relaxc::frontend
