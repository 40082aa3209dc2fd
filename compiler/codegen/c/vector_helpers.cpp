// vector_helpers.cpp: functions for what the vector types of GCC and clang have no operators for.
//
// C's operators work on these types. They lack loads from any element, broadcasts, selects by a mask, and fused
// multiply-add (which neither compiler has for vectors in general). A machine that is known to have fused multiply-add
// uses its own, other machines compute it lane by lane: the bits are the same.
#include "compiler/codegen/c/vector_helpers.h"

#include <fmt/format.h>

#include "compiler/codegen/c/types.h"
#include "compiler/support/check.h"

namespace relaxc::codegen_c {
namespace {

struct VectorType {
  DType dtype;
  int64_t lanes = 0;

  friend auto operator<=>(const VectorType&, const VectorType&) = default;
  std::string name() const { return fmt::format("rlx_{}x{}", suffix(dtype), lanes); }
  VectorType integer(bool sign) const { return {sign ? DType::i(dtype.bits) : DType::u(dtype.bits), lanes}; }
};

struct Helper {
  std::string operation;
  VectorType type;
};

Helper parse(const std::string& name) {
  size_t stem = name.rfind('_'), x = name.rfind('x');
  std::optional<DType> dtype = parse_dtype(name.substr(stem + 1, x - stem - 1));
  RELAXC_CHECK(dtype.has_value(), "a vector helper of no dtype: " + name);
  return {name.substr(0, stem), {*dtype, std::stoll(name.substr(x + 1))}};
}

/// `{V}` is the vector type, `{I}` and `{U}` integers of its width, `{T}` the element, `{X}` the suffix of names.
struct VectorTemplate {
  std::string_view operation, text;
};

constexpr VectorTemplate kVectorTemplates[] = {
    {"load", "rlx_load_{X}(const {T}* p) {{ return *(const {V}_at*)(const void*)p; }}\n"},
    {"gather", "rlx_gather_{X}(const {T}* p, int64_t step) {{\n  const {V} v = {{{EACH_STEP}}};\n  return v;\n}}\n"},
    {"masked_load", "rlx_masked_load_{X}(const {T}* p, {I} m) {{\n{MASKED_LOAD}}}\n"},
    {"masked_gather", "rlx_masked_gather_{X}(const {T}* p, int64_t step, {I} m) {{\n{MASKED_GATHER}}}\n"},
    {"spread", "rlx_spread_{X}({T} x) {{\n  const {V} v = {{{EACH_X}}};\n  return v;\n}}\n"},
    {"select", "rlx_select_{X}({I} m, {V} a, {V} b) {{ return ({V})((({I})a & m) | (({I})b & ~m)); }}\n"},
    {"min",
     "rlx_min_{X}({V} a, {V} b) {{\n  const {I} m = {MIN};\n  return ({V})((({I})a & m) | (({I})b & ~m));\n}}\n"},
    {"max",
     "rlx_max_{X}({V} a, {V} b) {{\n  const {I} m = {MAX};\n  return ({V})((({I})a & m) | (({I})b & ~m));\n}}\n"},
    {"fma", "rlx_fma_{X}({V} a, {V} b, {V} c) {{\n{FMA}}}\n"},
    {"abs", "rlx_abs_{X}({V} a) {{ return ({V})((({U})a << 1) >> 1); }}\n"},
    {"sqrt", "rlx_sqrt_{X}({V} a) {{\n  const {V} v = {{{EACH_sqrt}}};\n  return v;\n}}\n"},
    {"floor", "rlx_floor_{X}({V} a) {{\n  const {V} v = {{{EACH_floor}}};\n  return v;\n}}\n"},
    {"ceil", "rlx_ceil_{X}({V} a) {{\n  const {V} v = {{{EACH_ceil}}};\n  return v;\n}}\n"},
    {"trunc", "rlx_trunc_{X}({V} a) {{\n  const {V} v = {{{EACH_trunc}}};\n  return v;\n}}\n"},
    {"angle_rest",
     "rlx_angle_rest_{X}({V} x, {V} rest, {V} quadrant) {{\n"
     "  const {I} large = ({I})(({V})((({U})x << 1) >> 1) >= 4294967296.0);\n"
     "  if (({ANY_large}) == 0) return rest;\n"
     "  {{\n    const {V} v = {{{EACH_ANGLE_rest}}};\n    return v;\n  }}\n}}\n"},
    {"angle_quadrant",
     "rlx_angle_quadrant_{X}({V} x, {V} rest, {V} quadrant) {{\n"
     "  const {I} large = ({I})(({V})((({U})x << 1) >> 1) >= 4294967296.0);\n"
     "  if (({ANY_large}) == 0) return quadrant;\n"
     "  {{\n    const {V} v = {{{EACH_ANGLE_quadrant}}};\n    return v;\n  }}\n}}\n"},
    {"round", "rlx_round_{X}({V} a) {{\n  const {V} v = {{{EACH_rint}}};\n  return v;\n}}\n"},
};

template <typename F>
std::string each(const VectorType& type, F element) {
  std::string text;
  for (int64_t i = 0; i < type.lanes; ++i) text += (i == 0 ? "" : ", ") + element(i);
  return text;
}

/// The part of fma's body for machines whose instruction for this number of lanes has a name in C.
std::string fma_body(const VectorType& type) {
  int64_t bits = type.lanes * type.dtype.bits;
  bool single = type.dtype.bits == 32;
  std::string text = "#if 0\n";
  if (bits == 128 || bits == 256 || bits == 512) {
    std::string width = bits == 128 ? "" : std::to_string(bits);
    std::string own = "__m" + std::to_string(bits) + (single ? "" : "d");
    text += fmt::format("#elif defined({})\n  return ({})_mm{}_fmadd_p{}(({})a, ({})b, ({})c);\n",
                        bits == 512 ? "__AVX512F__" : "__FMA__", type.name(), width, single ? "s" : "d", own, own, own);
  }
  if (bits == 128) {
    std::string own = single ? "float32x4_t" : "float64x2_t";
    text += fmt::format("#elif defined({})\n  return ({})vfmaq_f{}(({})c, ({})a, ({})b);\n",
                        single ? "__ARM_NEON) && defined(__ARM_FEATURE_FMA" : "__aarch64__", type.name(),
                        static_cast<int>(type.dtype.bits), own, own, own);
  }
  std::string lanes =
      each(type, [&](int64_t i) { return fmt::format("fma{0}(a[{1}], b[{1}], c[{1}])", single ? "f" : "", i); });
  return text + fmt::format("#else\n  const {} v = {{{}}};\n  return v;\n#endif\n", type.name(), lanes);
}

/// The names in x86's C intrinsics for vectors and masks of a width.
struct X86 {
  explicit X86(const VectorType& type)
      : bits(type.lanes * type.dtype.bits),
        there((bits == 128 || bits == 256 || bits == 512) && (type.dtype.bits == 32 || type.dtype.bits == 64)),
        suffix(type.dtype.bits == 32 ? "ps" : "pd"),
        element(type.dtype.bits == 32 ? "float" : "double"),
        prefix(bits == 128 ? "_mm" : "_mm" + std::to_string(bits)),
        mask(bits == 512 ? fmt::format("_mm512_test_epi{0}_mask((__m512i)m, (__m512i)m)", int{type.dtype.bits})
                         : fmt::format("(__m{}i)m", bits)) {}
  int64_t bits;
  bool there;
  std::string suffix, element, prefix, mask;
};

std::string masked_load_body(const VectorType& type) {
  X86 x86(type);
  std::string text = "#if 0\n", v = type.name();
  if (x86.there && x86.bits == 512)
    text += fmt::format("#elif defined(__AVX512F__)\n  return ({})_mm512_maskz_loadu_{}({}, (const void*)p);\n", v,
                        x86.suffix, x86.mask);
  else if (x86.there)
    text += fmt::format("#elif defined(__AVX__)\n  return ({})_mm{}_maskload_{}((const {}*)(const void*)p, {});\n", v,
                        x86.bits == 128 ? "" : "256", x86.suffix, x86.element, x86.mask);
  std::string lanes = each(type, [](int64_t i) { return fmt::format("m[{0}] ? p[{0}] : 0", i); });
  return text + fmt::format("#else\n  const {} v = {{{}}};\n  return v;\n#endif\n", v, lanes);
}

std::string masked_gather_body(const VectorType& type) {
  X86 x86(type);
  std::string text = "#if 0\n", v = type.name();
  std::string steps = each(type, [](int64_t i) { return fmt::format("{} * (int32_t)step", i); });
  bool single = type.dtype.bits == 32;
  if (x86.there && single && x86.bits == 512)
    text += fmt::format(
        "#elif defined(__AVX512F__)\n  const rlx_i32x16 at = {{{}}};\n  return ({})_mm512_mask_i32gather_ps("
        "_mm512_setzero_ps(), {}, (__m512i)at, (const void*)p, 4);\n",
        steps, v, x86.mask);
  else if (x86.there && single && x86.bits == 256)
    text += fmt::format(
        "#elif defined(__AVX2__)\n  const rlx_i32x8 at = {{{}}};\n  return ({})_mm256_mask_i32gather_ps("
        "_mm256_setzero_ps(), (const float*)(const void*)p, (__m256i)at, (__m256)m, 4);\n",
        steps, v);
  std::string lanes = each(type, [](int64_t i) { return fmt::format("m[{0}] ? p[{0} * step] : 0", i); });
  return text + fmt::format("#else\n  const {} v = {{{}}};\n  return v;\n#endif\n", v, lanes);
}

std::string masked_store_text(const VectorType& type) {
  X86 x86(type);
  std::string v = type.name();
  std::string text = fmt::format("RLX_INLINE void rlx_masked_store_{}({}* p, {} m, {} v) {{\n#if 0\n", v.substr(4),
                                 value_type(type.dtype), type.integer(true).name(), v);
  if (x86.there && x86.bits == 512)
    text += fmt::format("#elif defined(__AVX512F__)\n  _mm512_mask_storeu_{0}((void*)p, {1}, (__m512{2})v);\n",
                        x86.suffix, x86.mask, x86.suffix == "ps" ? "" : "d");
  else if (x86.there)
    text += fmt::format("#elif defined(__AVX__)\n  _mm{0}_maskstore_{1}(({2}*)(void*)p, {3}, (__m{4}{5})v);\n",
                        x86.bits == 128 ? "" : "256", x86.suffix, x86.element, x86.mask, x86.bits,
                        x86.suffix == "ps" ? "" : "d");
  text += "#else\n";
  for (int64_t i = 0; i < type.lanes; ++i) text += fmt::format("  if (m[{0}]) p[{0}] = v[{0}];\n", i);
  return text + "#endif\n}\n";
}

std::string any_lane(const VectorType& type, const char* mask) {
  std::string text;
  for (int64_t i = 0; i < type.lanes; ++i) text += fmt::format("{}{}[{}]", i == 0 ? "" : " | ", mask, i);
  return text;
}

std::string instantiate(std::string_view form, const VectorType& type) {
  std::string f = type.dtype.bits == 64 ? "" : "f", v = type.name();
  bool is_float = type.dtype.is_float();
  std::string signed_type = type.integer(true).name();
  auto mask = [&](const char* sign) {
    std::string text = fmt::format("({})(a {} b)", signed_type, sign);
    return is_float ? fmt::format("{} | ({})(a != a)", text, signed_type) : text;
  };
  auto function = [&](const char* name) {
    return each(type, [&](int64_t i) { return fmt::format("{}{}(a[{}])", name, f, i); });
  };
  auto angle = [&](const char* which) {
    return each(type,
                [&](int64_t i) { return fmt::format("rlx_angle_{0}(x[{1}], rest[{1}], quadrant[{1}])", which, i); });
  };
  return fmt::format(fmt::runtime(form), fmt::arg("V", v), fmt::arg("I", signed_type),
                     fmt::arg("U", type.integer(false).name()), fmt::arg("T", value_type(type.dtype)),
                     fmt::arg("X", v.substr(4)), fmt::arg("MIN", mask("<")), fmt::arg("MAX", mask(">")),
                     fmt::arg("FMA", is_float ? fma_body(type) : ""), fmt::arg("MASKED_LOAD", masked_load_body(type)),
                     fmt::arg("MASKED_GATHER", masked_gather_body(type)),
                     fmt::arg("EACH_X", each(type, [](int64_t) { return std::string("x"); })),
                     fmt::arg("EACH_STEP", each(type, [](int64_t i) { return fmt::format("p[{} * step]", i); })),
                     fmt::arg("EACH_sqrt", function("sqrt")), fmt::arg("EACH_floor", function("floor")),
                     fmt::arg("EACH_ceil", function("ceil")), fmt::arg("EACH_trunc", function("trunc")),
                     fmt::arg("EACH_rint", function("rint")), fmt::arg("ANY_large", any_lane(type, "large")),
                     fmt::arg("EACH_ANGLE_rest", angle("rest")), fmt::arg("EACH_ANGLE_quadrant", angle("quadrant")));
}

constexpr std::string_view kBegin =
    "#if !defined(__GNUC__)\n"
    "#error \"this text uses the vector types of GCC and clang; relaxc --c-vectors=none writes C99 alone\"\n"
    "#endif\n"
    "#if defined(__ARM_FEATURE_MVE) && !defined(__clang__)\n"
    "#error \"GCC miscompiles masks of these vectors; relaxc --c-vectors=none writes C99 alone\"\n"
    "#endif\n"
    "#if defined(__AVX__)\n#include <immintrin.h>\n"
    "#elif defined(__ARM_NEON)\n#include <arm_neon.h>\n#endif\n"
    "#pragma GCC diagnostic ignored \"-Wpsabi\" /* all of these are inlined */\n"
    "#define RLX_INLINE static inline __attribute__((always_inline))\n";

}  // namespace

bool is_vector_helper(const std::string& name) {
  size_t stem = name.rfind('_'), x = name.rfind('x');
  return stem != std::string::npos && x != std::string::npos && x > stem + 1 && x + 1 < name.size() &&
         name.find_first_not_of("0123456789", x + 1) == std::string::npos;
}

std::string vector_helper_text(const std::set<std::string>& used) {
  if (used.empty()) return {};
  std::set<VectorType> types;
  for (const std::string& name : used) {
    VectorType type = parse(name).type;
    types.insert({type, type.integer(true), type.integer(false)});
  }
  std::string text(kBegin);
  for (const VectorType& type : types)
    text += fmt::format(
        "typedef {0} {1} __attribute__((vector_size({2})));\n"
        "typedef {0} {1}_at __attribute__((vector_size({2}), aligned({3}), may_alias));\n",
        value_type(type.dtype), type.name(), type.lanes * type.dtype.bytes(), type.dtype.bytes());
  for (const VectorTemplate& form : kVectorTemplates)
    for (const std::string& name : used)
      if (Helper helper = parse(name); helper.operation == form.operation)
        text += "RLX_INLINE " + helper.type.name() + " " + instantiate(form.text, helper.type);
  for (const std::string& name : used)
    if (Helper helper = parse(name); helper.operation == "store")
      text += fmt::format("RLX_INLINE void rlx_{0}({1}* p, {2} v) {{ *({2}_at*)(void*)p = v; }}\n", name,
                          value_type(helper.type.dtype), helper.type.name());
  for (const std::string& name : used)
    if (Helper helper = parse(name); helper.operation == "masked_store") text += masked_store_text(helper.type);
  return text;
}

}  // namespace relaxc::codegen_c
