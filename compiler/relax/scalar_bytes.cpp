// scalar_bytes.cpp: converts one element of any numeric dtype to and from bytes.
#include <cstring>

#include "compiler/arith/expr.h"
#include "compiler/arith/float_bits.h"
#include "compiler/relax/constant.h"

namespace relaxc::relax {
namespace {

uint64_t load_bits(DType dtype, const std::byte* data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, static_cast<size_t>(dtype.bytes()));
  return bits;
}

}  // namespace

std::vector<std::byte> encode_scalar(DType dtype, double value) {
  uint64_t bits = 0;
  if (dtype.is_float())
    bits = arith::encode_float(dtype, value);
  else if (dtype == DType::u(64))
    bits = static_cast<uint64_t>(value);
  else if (dtype.is_bool())
    bits = value != 0;
  else
    bits = static_cast<uint64_t>(arith::wrap_to_dtype(static_cast<int64_t>(value), dtype));
  std::vector<std::byte> bytes(static_cast<size_t>(dtype.bytes()));
  std::memcpy(bytes.data(), &bits, bytes.size());
  return bytes;
}

double decode_scalar(DType dtype, const std::byte* data) {
  uint64_t bits = load_bits(dtype, data);
  if (dtype.is_float()) return arith::decode_float(dtype, bits);
  if (dtype == DType::u(64)) return static_cast<double>(bits);
  return static_cast<double>(decode_integer(dtype, data));
}

int64_t decode_integer(DType dtype, const std::byte* data) {
  return arith::wrap_to_dtype(static_cast<int64_t>(load_bits(dtype, data)), dtype);
}

}  // namespace relaxc::relax
