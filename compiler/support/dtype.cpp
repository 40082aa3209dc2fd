// dtype.cpp: the names of dtypes, in one table.
#include "compiler/support/dtype.h"

#include "compiler/support/check.h"

namespace relaxc {
namespace {

struct Spelling {
  std::string_view name, short_name;
  DType dtype;
};

constexpr Spelling kSpellings[] = {
    {"bool", "b1", DType::boolean()},
    {"int8", "i8", DType::i(8)},
    {"int16", "i16", DType::i(16)},
    {"int32", "i32", DType::i(32)},
    {"int64", "i64", DType::i(64)},
    {"int4", "i4", DType::i(4)},
    {"int2", "i2", DType::i(2)},
    {"uint8", "u8", DType::u(8)},
    {"uint16", "u16", DType::u(16)},
    {"uint32", "u32", DType::u(32)},
    {"uint64", "u64", DType::u(64)},
    {"uint4", "u4", DType::u(4)},
    {"uint2", "u2", DType::u(2)},
    {"float16", "f16", DType::f(16)},
    {"float32", "f32", DType::f(32)},
    {"float64", "f64", DType::f(64)},
    {"bfloat16", "bf16", DType::bf16()},
    {"float8_e4m3fn", "f8e4m3fn", {TypeCode::kFloat8E4M3FN, 8}},
    {"float8_e4m3fnuz", "f8e4m3fnuz", {TypeCode::kFloat8E4M3FNUZ, 8}},
    {"float8_e5m2", "f8e5m2", {TypeCode::kFloat8E5M2, 8}},
    {"float8_e5m2fnuz", "f8e5m2fnuz", {TypeCode::kFloat8E5M2FNUZ, 8}},
    {"float8_e8m0fnu", "f8e8m0fnu", {TypeCode::kFloat8E8M0FNU, 8}},
    {"float4_e2m1fn", "f4e2m1fn", {TypeCode::kFloat4E2M1FN, 4}},
    {"complex64", "c64", {TypeCode::kComplex, 64}},
    {"complex128", "c128", {TypeCode::kComplex, 128}},
    {"string", "str", {TypeCode::kString, 128}},
    {"handle", "ptr", DType::handle()},
    {"index", "idx", DType::index()},
};

}  // namespace

std::string to_string(DType dtype) {
  for (const Spelling& spelling : kSpellings)
    if (spelling.dtype == dtype) return std::string(spelling.name);
  RELAXC_UNREACHABLE("a dtype without a spelling");
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (const Spelling& spelling : kSpellings)
    if (spelling.name == text || spelling.short_name == text) return spelling.dtype;
  return std::nullopt;
}

}  // namespace relaxc
