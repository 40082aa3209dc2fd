// helpers.cpp: functions for what C leaves undefined or lacks: wrapping integers, division by zero, saturating casts,
// small floats, checked index arithmetic.
//
// A table of templates, each instantiated for the dtype that ends the helper's name; a file gets those that it uses.
#include "compiler/codegen/c/helpers.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "compiler/codegen/c/types.h"
#include "compiler/codegen/c/vector_helpers.h"
#include "compiler/support/check.h"

namespace relaxc::codegen_c {
namespace {

/// `{T}` is the C type, `{U}` its unsigned partner, `{W}` an unsigned type without promotion, `{S}` the suffix,
/// `{BITS}` the width, `{MASK}` a mask of as many bits. `{O}` and `{C}` around a `{W}` reduce it
/// to the width and convert it to `{T}`.
struct Template {
  std::string_view name;  ///< the part before "_<suffix>"
  std::string_view text;
};

constexpr Template kTemplates[] = {
    {"narrow", "static inline {T} rlx_narrow_{S}({W} a) {{ return {O}a{C}; }}\n"},
    {"add", "static inline {T} rlx_add_{S}({T} a, {T} b) {{ return {O}({W})a + ({W})b{C}; }}\n"},
    {"sub", "static inline {T} rlx_sub_{S}({T} a, {T} b) {{ return {O}({W})a - ({W})b{C}; }}\n"},
    {"mul", "static inline {T} rlx_mul_{S}({T} a, {T} b) {{ return {O}({W})a * ({W})b{C}; }}\n"},
    {"div",
     "static inline {T} rlx_div_{S}({T} a, {T} b) {{\n"
     "  if (b == 0) return 0;\n"
     "  return (b == ({T})-1) ? {O}0 - ({W})a{C} : ({T})(a / b);\n}}\n"},
    {"mod",
     "static inline {T} rlx_mod_{S}({T} a, {T} b) {{ return ((b == 0) || (b == ({T})-1)) ? 0 : ({T})(a % b); }}\n"},
    {"udiv", "static inline {T} rlx_udiv_{S}({T} a, {T} b) {{ return (b == 0) ? 0 : ({T})(a / b); }}\n"},
    {"umod", "static inline {T} rlx_umod_{S}({T} a, {T} b) {{ return (b == 0) ? 0 : ({T})(a % b); }}\n"},
    {"floordiv",
     "static inline {T} rlx_floordiv_{S}({T} a, {T} b) {{\n"
     "  if (b == 0) return 0;\n"
     "  if (b == ({T})-1) return {O}0 - ({W})a{C};\n"
     "  return ({T})((a / b) - (((a % b) != 0) && (((a % b) < 0) != (b < 0))));\n}}\n"},
    {"floormod",
     "static inline {T} rlx_floormod_{S}({T} a, {T} b) {{\n"
     "  if ((b == 0) || (b == ({T})-1)) return 0;\n"
     "  return ({T})((a % b) + ((((a % b) != 0) && (((a % b) < 0) != (b < 0))) ? b : 0));\n}}\n"},
    {"min", "static inline {T} rlx_min_{S}({T} a, {T} b) {{ return (a < b) ? a : b; }}\n"},
    {"max", "static inline {T} rlx_max_{S}({T} a, {T} b) {{ return (a > b) ? a : b; }}\n"},
    {"fmin", "static inline {T} rlx_fmin_{S}({T} a, {T} b) {{ return ((a < b) || (a != a)) ? a : b; }}\n"},
    {"fmax", "static inline {T} rlx_fmax_{S}({T} a, {T} b) {{ return ((a > b) || (a != a)) ? a : b; }}\n"},
    {"abs", "static inline {T} rlx_abs_{S}({T} a) {{ return (a < 0) ? {O}0 - ({W})a{C} : a; }}\n"},
    {"shl",
     "static inline {T} rlx_shl_{S}({T} a, {T} b) {{\n"
     "  return (({U})b < {BITS}) ? {O}({W})a << ({U})b{C} : 0;\n}}\n"},
    {"ushr", "static inline {T} rlx_ushr_{S}({T} a, {T} b) {{ return (b < {BITS}) ? ({T})(a >> b) : 0; }}\n"},
    {"shr",
     "static inline {T} rlx_shr_{S}({T} a, {T} b) {{\n"
     "  unsigned by = (({U})b < {BITS}) ? (unsigned)b : ({BITS} - 1);\n"
     "  return (a < 0) ? ({T})~((~({W})a) >> by) : ({T})(a >> by);\n}}\n"},
    {"from_f32",
     "static inline {T} rlx_from_f32_{S}(float x) {{\n"
     "  if (!(x == x)) return 0;\n"
     "  if (x <= (float){LOW}) return {LOW};\n"
     "  return (x >= {LIMIT}f) ? {HIGH} : ({T})x;\n}}\n"},
    {"from_f64",
     "static inline {T} rlx_from_f64_{S}(double x) {{\n"
     "  if (!(x == x)) return 0;\n"
     "  if (x <= (double){LOW}) return {LOW};\n"
     "  return (x >= {LIMIT}) ? {HIGH} : ({T})x;\n}}\n"},
    {"popcount",
     "static inline {T} rlx_popcount_{S}({T} a) {{\n"
     "  {U} x = ({U})(({U})a & {MASK});\n  int n = 0;\n"
     "  for (; x != 0; x = ({U})(x & (x - 1))) n++;\n  return ({T})n;\n}}\n"},
    {"clz",
     "static inline {T} rlx_clz_{S}({T} a) {{\n"
     "  {U} x = ({U})(({U})a & {MASK});\n  int n = {BITS};\n"
     "  for (; x != 0; x = ({U})(x >> 1)) n--;\n  return ({T})n;\n}}\n"},
};

/// Helpers that exist for one type only.
constexpr Template kFixed[] = {
    {"bits_f32",
     "static inline uint32_t rlx_bits_f32(float x) {\n"
     "  union { float f; uint32_t u; } v;\n  v.f = x;\n  return v.u;\n}\n"},
    {"float_u32",
     "static inline float rlx_float_u32(uint32_t x) {\n"
     "  union { uint32_t u; float f; } v;\n  v.u = x;\n  return v.f;\n}\n"},
    {"bits_f64",
     "static inline uint64_t rlx_bits_f64(double x) {\n"
     "  union { double f; uint64_t u; } v;\n  v.f = x;\n  return v.u;\n}\n"},
    {"float_u64",
     "static inline double rlx_float_u64(uint64_t x) {\n"
     "  union { uint64_t u; double f; } v;\n  v.u = x;\n  return v.f;\n}\n"},
    // Decodes a small float exactly, by scaling the bits with the difference of biases. fn is 1 for a format without
    // infinity and 2 for one without NaN as well; uz is 1 if the code of -0 is NaN.
    {"load_small",
     "static inline float rlx_load_small(uint32_t bits, int width, int mantissa, int bias, int fn, int uz) {\n"
     "  uint32_t sign = bits >> (width - 1) & 1, all = (1u << (width - 1)) - 1;\n"
     "  uint32_t exponent = (bits & all) >> mantissa, fraction = bits & ((1u << mantissa) - 1);\n"
     "  uint32_t top = all >> mantissa;\n"
     "  float value;\n"
     "  if (uz && bits == 1u << (width - 1)) return rlx_float_u32(0x7fc00000u);\n"
     "  if (fn == 1 && !uz && (bits & all) == all) return rlx_float_u32((sign << 31) | 0x7fc00000u);\n"
     "  if (!fn && exponent == top)\n"
     "    return rlx_float_u32((sign << 31) | 0x7f800000u | (fraction << (23 - mantissa)));\n"
     "  if (exponent != 0) {\n"
     "    value = rlx_float_u32(((exponent + 127u - (uint32_t)bias) << 23) | (fraction << (23 - mantissa)));\n"
     "  } else {\n"
     "    value = (float)fraction * rlx_float_u32((uint32_t)(128 - bias - mantissa) << 23);\n"
     "  }\n"
     "  return sign ? -value : value;\n}\n"},
    // Rounds to nearest, ties to even, on the float's bits.
    {"round_small",
     "static inline uint32_t rlx_round_small(float x, int width, int mantissa, int bias, int fn, int uz) {\n"
     "  uint32_t bits = rlx_bits_f32(x), sign = (bits >> 31) << (width - 1), magnitude = bits & 0x7fffffffu;\n"
     "  uint32_t all = (1u << (width - 1)) - 1, nan, over, out;\n"
     "  int exponent = (int)(magnitude >> 23) - 127, drop = 23 - mantissa;\n"
     "  uint32_t fraction = magnitude & 0x7fffffu;\n"
     "  nan = uz || fn == 2 ? 1u << (width - 1)\n"
     "           : fn ? sign | all : sign | ((all >> mantissa) << mantissa) | (1u << (mantissa - 1));\n"
     "  over = fn == 2 ? sign | all : fn ? nan : sign | ((all >> mantissa) << mantissa);\n"
     "  if (magnitude > 0x7f800000u) return nan;\n"
     "  if (magnitude == 0x7f800000u) return over;\n"
     "  if (magnitude >= 0x00800000u) fraction |= 0x800000u; else exponent = -126;\n"
     "  if (exponent < 1 - bias) {\n"
     "    int more = 1 - bias - exponent;\n"
     "    drop = more > 25 ? 25 : drop + more;\n"
     "    exponent = -bias;\n"
     "  } else {\n"
     "    fraction &= 0x7fffffu;\n"
     "  }\n"
     "  if (drop > 25) drop = 25;\n"
     "  out = (magnitude < 0x00800000u ? 0 : (uint32_t)(exponent + bias) << mantissa) + (drop > 0 ? fraction >> drop : "
     "fraction);\n"
     "  if (drop > 0) {\n"
     "    uint32_t rest = fraction & ((1u << drop) - 1), half = 1u << (drop - 1);\n"
     "    if (rest > half || (rest == half && (out & 1))) out++;\n"
     "  }\n"
     "  if (fn ? out > (uz || fn == 2 ? all : all - 1) : out >= (all >> mantissa) << mantissa) return over;\n"
     "  if (uz && out == 0) return 0;\n"
     "  return sign | out;\n}\n"},
    {"load_f16", "static inline float rlx_load_f16(uint16_t x) { return rlx_load_small(x, 16, 10, 15, 0, 0); }\n"},
    {"load_bf16", "static inline float rlx_load_bf16(uint16_t x) { return rlx_float_u32((uint32_t)x << 16); }\n"},
    {"load_f8e4m3fn",
     "static inline float rlx_load_f8e4m3fn(uint8_t x) { return rlx_load_small(x, 8, 3, 7, 1, 0); }\n"},
    {"load_f8e4m3fnuz",
     "static inline float rlx_load_f8e4m3fnuz(uint8_t x) { return rlx_load_small(x, 8, 3, 8, 1, 1); }\n"},
    {"load_f8e5m2", "static inline float rlx_load_f8e5m2(uint8_t x) { return rlx_load_small(x, 8, 2, 15, 0, 0); }\n"},
    {"load_f8e5m2fnuz",
     "static inline float rlx_load_f8e5m2fnuz(uint8_t x) { return rlx_load_small(x, 8, 2, 16, 1, 1); }\n"},
    {"load_f4e2m1fn",
     "static inline float rlx_load_f4e2m1fn(uint8_t x) { return rlx_load_small(x, 4, 1, 1, 2, 0); }\n"},
    {"load_f8e8m0fnu",
     "static inline float rlx_load_f8e8m0fnu(uint8_t x) {\n"
     "  return rlx_float_u32(x == 0 ? 0x400000u : x == 255 ? 0x7fc00000u : (uint32_t)x << 23);\n}\n"},
    {"bits_f16",
     "static inline uint16_t rlx_bits_f16(float x) { return (uint16_t)rlx_round_small(x, 16, 10, 15, 0, 0); }\n"},
    {"bits_bf16",
     "static inline uint16_t rlx_bits_bf16(float x) { return (uint16_t)rlx_round_small(x, 16, 7, 127, 0, 0); }\n"},
    {"bits_f8e4m3fn",
     "static inline uint8_t rlx_bits_f8e4m3fn(float x) { return (uint8_t)rlx_round_small(x, 8, 3, 7, 1, 0); }\n"},
    {"bits_f8e4m3fnuz",
     "static inline uint8_t rlx_bits_f8e4m3fnuz(float x) { return (uint8_t)rlx_round_small(x, 8, 3, 8, 1, 1); }\n"},
    {"bits_f8e5m2",
     "static inline uint8_t rlx_bits_f8e5m2(float x) { return (uint8_t)rlx_round_small(x, 8, 2, 15, 0, 0); }\n"},
    {"bits_f8e5m2fnuz",
     "static inline uint8_t rlx_bits_f8e5m2fnuz(float x) { return (uint8_t)rlx_round_small(x, 8, 2, 16, 1, 1); }\n"},
    {"bits_f4e2m1fn",
     "static inline uint8_t rlx_bits_f4e2m1fn(float x) { return (uint8_t)rlx_round_small(x, 4, 1, 1, 2, 0); }\n"},
    // Encodes the nearest power of two; NaN for numbers that are not positive.
    {"bits_f8e8m0fnu",
     "static inline uint8_t rlx_bits_f8e8m0fnu(float x) {\n"
     "  uint32_t bits = rlx_bits_f32(x);\n"
     "  if (bits == 0 || bits >= 0x7f400000u) return 255;\n"
     "  return (uint8_t)(bits < 0x800000u ? bits >= 0x600000u : (bits + 0x400000u) >> 23);\n}\n"},
    {"round_f16", "static inline float rlx_round_f16(float x) { return rlx_load_f16(rlx_bits_f16(x)); }\n"},
    {"round_bf16", "static inline float rlx_round_bf16(float x) { return rlx_load_bf16(rlx_bits_bf16(x)); }\n"},
    {"round_f8e4m3fn",
     "static inline float rlx_round_f8e4m3fn(float x) { return rlx_load_f8e4m3fn(rlx_bits_f8e4m3fn(x)); }\n"},
    {"round_f8e4m3fnuz",
     "static inline float rlx_round_f8e4m3fnuz(float x) { return rlx_load_f8e4m3fnuz(rlx_bits_f8e4m3fnuz(x)); }\n"},
    {"round_f8e5m2", "static inline float rlx_round_f8e5m2(float x) { return rlx_load_f8e5m2(rlx_bits_f8e5m2(x)); }\n"},
    {"round_f8e5m2fnuz",
     "static inline float rlx_round_f8e5m2fnuz(float x) { return rlx_load_f8e5m2fnuz(rlx_bits_f8e5m2fnuz(x)); }\n"},
    {"round_f4e2m1fn",
     "static inline float rlx_round_f4e2m1fn(float x) { return rlx_load_f4e2m1fn(rlx_bits_f4e2m1fn(x)); }\n"},
    {"round_f8e8m0fnu",
     "static inline float rlx_round_f8e8m0fnu(float x) { return rlx_load_f8e8m0fnu(rlx_bits_f8e8m0fnu(x)); }\n"},
    // The remainder of an angle and its quadrant (compiler/arith/angle.h).
    {"angle_rest",
     "static inline double rlx_angle_rest(double x, double rest, double quadrant) {\n"
     "  double exact = rest;\n  double turn = quadrant;\n"
     "  if (((x >= 4294967296.0) || (x <= -4294967296.0)) && ((x - x) == 0.0)) {\n"
     "    exact = rlx_reduce_angle(rlx_bits_f64(x), &turn);\n  }\n  return exact;\n}\n"},
    {"angle_quadrant",
     "static inline double rlx_angle_quadrant(double x, double rest, double quadrant) {\n"
     "  double turn = quadrant;\n"
     "  (void)rest;\n"
     "  if (((x >= 4294967296.0) || (x <= -4294967296.0)) && ((x - x) == 0.0)) {\n"
     "    (void)rlx_reduce_angle(rlx_bits_f64(x), &turn);\n  }\n  return turn;\n}\n"},
    // b - a, clamped to 30 bits, so that steps between lanes can be added in 32 bits.
    {"distance",
     "static inline int32_t rlx_distance(int64_t a, int64_t b) {\n"
     "  const int64_t most = INT64_C(1) << 30, d = b - a;\n"
     "  return (int32_t)(d > most ? most : d < -most ? -most : d);\n}\n"},
    // Adds the products of four unsigned bytes at x and the signed bytes of w, the first in its lowest bits.
    {"dot4",
     "#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_UNALIGNED) && !defined(__ARM_BIG_ENDIAN)\n"
     "#include <arm_acle.h>\n"
     "static inline int32_t rlx_dot4(int32_t sum, const uint8_t* x, int32_t w) {\n"
     "  uint32_t a, b = (uint32_t)w;\n"
     "  __builtin_memcpy(&a, x, sizeof a);\n"
     "  sum = __smlad((int32_t)__uxtb16(a), __sxtb16((int32_t)b), sum);\n"
     "  a = (a >> 8) | (a << 24);\n  b = (b >> 8) | (b << 24);\n"
     "  return __smlad((int32_t)__uxtb16(a), __sxtb16((int32_t)b), sum);\n}\n#else\n"
     "static inline int32_t rlx_dot4(int32_t sum, const uint8_t* x, int32_t w) {\n"
     "  const uint32_t b = (uint32_t)w;\n"
     "  const int32_t low = ((int32_t)x[0] * (int8_t)(uint8_t)b) + ((int32_t)x[1] * (int8_t)(uint8_t)(b >> 8));\n"
     "  const int32_t high = ((int32_t)x[2] * (int8_t)(uint8_t)(b >> 16)) + ((int32_t)x[3] * (int8_t)(uint8_t)(b >> "
     "24));\n"
     "  return (int32_t)((uint32_t)sum + (uint32_t)(low + high));\n}\n#endif\n"},
    // Adds the products of four 16-bit numbers at x and signed bytes of w: the first two by bytes 0 and 2.
    {"pair_dot",
     "#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_UNALIGNED) && !defined(__ARM_BIG_ENDIAN)\n"
     "#include <arm_acle.h>\n"
     "static inline int32_t rlx_pair_dot(int32_t sum, const int16_t* x, int32_t w) {\n"
     "  int32_t low, high;\n  const uint32_t b = (uint32_t)w;\n"
     "  __builtin_memcpy(&low, x, sizeof low);\n  __builtin_memcpy(&high, x + 2, sizeof high);\n"
     "  sum = __smlad(low, __sxtb16(w), sum);\n"
     "  return __smlad(high, __sxtb16((int32_t)((b >> 8) | (b << 24))), sum);\n}\n#else\n"
     "static inline int32_t rlx_pair_dot(int32_t sum, const int16_t* x, int32_t w) {\n"
     "  const uint32_t b = (uint32_t)w;\n"
     "  const int32_t low = (x[0] * (int8_t)(uint8_t)b) + (x[1] * (int8_t)(uint8_t)(b >> 16));\n"
     "  const int32_t high = (x[2] * (int8_t)(uint8_t)(b >> 8)) + (x[3] * (int8_t)(uint8_t)(b >> 24));\n"
     "  return (int32_t)((uint32_t)sum + ((uint32_t)low + (uint32_t)high));\n}\n#endif\n"},
    {"checked_add",
     "static inline int64_t rlx_checked_add(int64_t a, int64_t b, int* bad) {\n"
     "  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) { *bad = 1; return 0; }\n  return a + b;\n}\n"},
    {"checked_sub",
     "static inline int64_t rlx_checked_sub(int64_t a, int64_t b, int* bad) {\n"
     "  if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b) { *bad = 1; return 0; }\n  return a - b;\n}\n"},
    {"checked_mul",
     "static inline int64_t rlx_checked_mul(int64_t a, int64_t b, int* bad) {\n"
     "  if (a == 0 || b == 0) return 0;\n"
     "  if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)\n"
     "            : (b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a)) { *bad = 1; return 0; }\n"
     "  return a * b;\n}\n"},
    {"fail",
     "static int32_t rlx_fail(rlx_error* error, int32_t code, int32_t tensor, int32_t axis, int32_t symbol, int32_t "
     "node,\n"
     "                        int64_t expected, int64_t actual) {\n"
     "  if (error != NULL) {\n"
     "    error->code = code;\n    error->tensor = tensor;\n    error->axis = axis;\n    error->symbol = symbol;\n"
     "    error->node = node;\n    error->expected = expected;\n    error->actual = actual;\n  }\n"
     "  return code;\n}\n"},
    {"name_failure",
     "static int32_t rlx_name_failure(rlx_error* error, int32_t status, int32_t node) {\n"
     "  if (error != NULL && error->node < 0) error->node = node;\n"
     "  return status;\n}\n"},
};

DType dtype_of_suffix(std::string_view suffix) {
  std::optional<DType> dtype = parse_dtype(suffix);
  RELAXC_CHECK(dtype.has_value(), "a helper of no dtype: " + std::string(suffix));
  return *dtype;
}

std::string instantiate(const Template& form, DType dtype) {
  std::string type = value_type(dtype), unsigned_type = type, low = "0", high;
  int bits = dtype.bits;
  std::string wide = bits == 64 ? "uint64_t" : "uint32_t";
  std::string limit = "0";
  if (!dtype.is_float()) {
    bool sign = dtype.is_int() || dtype.is_index();
    std::string name = (sign ? "INT" : "UINT") + std::to_string(bits);
    low = sign ? name + "_MIN" : "0";
    high = name + "_MAX";
    if (bits < 8) {  // stdint.h has no names for these
      low = sign ? fmt::format("(-{})", 1 << (bits - 1)) : "0";
      high = std::to_string((1 << (sign ? bits - 1 : bits)) - 1);
    }
    if (sign) unsigned_type = "u" + type;
    double bound = 1;
    for (int i = 0; i < bits - (sign ? 1 : 0); ++i) bound *= 2;
    limit = fmt::format("{:.1f}", bound);
  }
  std::string open = fmt::format("({})(", type), close = ")", mask = fmt::format("({})-1", unsigned_type);
  if (bits < 8) {  // a byte holds more than the type
    mask = fmt::format("{}u", (1 << bits) - 1);
    int sign = dtype.is_int() ? 1 << (bits - 1) : 0;
    open = fmt::format("({})((((", type);
    close = fmt::format(") & {}) ^ {}u) - {}u)", mask, sign, sign);
  }
  return fmt::format(fmt::runtime(form.text), fmt::arg("O", open), fmt::arg("C", close), fmt::arg("MASK", mask),
                     fmt::arg("T", type), fmt::arg("U", unsigned_type), fmt::arg("W", wide),
                     fmt::arg("S", suffix(dtype)), fmt::arg("BITS", bits), fmt::arg("LOW", low), fmt::arg("HIGH", high),
                     fmt::arg("LIMIT", limit));
}

/// Adds the helpers that those in `used` call; in the list, they are before their callers.
void add_needed(std::set<std::string>& used) {
  for (size_t i = std::size(kFixed); i-- > 0;) {
    if (used.count(std::string(kFixed[i].name)) == 0) continue;
    for (const Template& other : kFixed)
      if (kFixed[i].text.find(fmt::format("rlx_{}(", other.name)) != std::string_view::npos)
        used.insert(std::string(other.name));
  }
}

/// The text of a helper, with memcpy instead of a union if it reinterprets bits.
std::string without_union(const Template& fixed) {
  static constexpr Template kCopies[] = {
      {"bits_f32", "static inline uint32_t rlx_bits_f32(float x)"},
      {"float_u32", "static inline float rlx_float_u32(uint32_t x)"},
      {"bits_f64", "static inline uint64_t rlx_bits_f64(double x)"},
      {"float_u64", "static inline double rlx_float_u64(uint64_t x)"},
  };
  for (const Template& copy : kCopies) {
    if (copy.name != fixed.name) continue;
    std::string type(copy.text.substr(14, copy.text.find(" rlx_") - 14));
    return fmt::format("{} {{\n  {} v;\n  (void)memcpy(&v, &x, sizeof v);\n  return v;\n}}\n", copy.text, type);
  }
  return std::string(fixed.text);
}

}  // namespace

std::string helper_text(const std::set<std::string>& wanted, Profile profile) {
  std::set<std::string> used, vectors;
  for (const std::string& name : wanted) (is_vector_helper(name) ? vectors : used).insert(name);
  add_needed(used);
  std::string text;
  if (used.count("angle_rest") + used.count("angle_quadrant") != 0) text += kReduceAngleText;
  for (const Template& fixed : kFixed)
    if (used.erase(std::string(fixed.name)) != 0)
      text += profile == Profile::kMisra ? without_union(fixed) : std::string(fixed.text);
  text += vector_helper_text(vectors);
  for (const Template& form : kTemplates)
    for (const std::string& name : used) {
      std::string_view stem = std::string_view(name).substr(0, name.rfind('_'));
      if (stem == form.name) text += instantiate(form, dtype_of_suffix(std::string_view(name).substr(stem.size() + 1)));
    }
  return text;
}

}  // namespace relaxc::codegen_c
