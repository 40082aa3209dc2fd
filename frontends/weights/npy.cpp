// npy.cpp: reads the head of NumPy's .npy files: a magic, a version, a length, and a Python dict with 'descr',
// 'fortran_order' and 'shape'. It accepts only the form that NumPy writes.
#include "frontends/weights/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace relaxc::frontend {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

/// A cursor in the text of the dict; every step says whether it succeeded.
class Dict {
 public:
  explicit Dict(std::string_view text) : text_(text) {}

  bool accept(std::string_view word) {
    while (text_.starts_with(' ') || text_.starts_with('\n')) text_.remove_prefix(1);
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> string() {
    if (!accept("'")) return std::nullopt;
    size_t end = text_.find('\'');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view value = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return value;
  }
  std::optional<int64_t> integer() {
    accept("");
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    accept("L");  // Python 2 writes this suffix
    return value;
  }
  /// Parses (2, 3), (2,) or ().
  bool shape(std::vector<int64_t>& dims) {
    if (!accept("(")) return false;
    while (!accept(")")) {
      std::optional<int64_t> dim = integer();
      if (!dim) return false;
      dims.push_back(*dim);
      if (!accept(",")) return accept(")");
    }
    return true;
  }
  bool at_end() { return accept("") && text_.empty(); }

 private:
  std::string_view text_;
};

std::optional<DType> dtype_of(std::string_view descr) {
  struct Row {
    std::string_view descr;
    DType dtype;
  };
  static constexpr Row kRows[] = {
      {"b1", DType::boolean()},
      {"i1", DType::i(8)},
      {"i2", DType::i(16)},
      {"i4", DType::i(32)},
      {"i8", DType::i(64)},
      {"u1", DType::u(8)},
      {"u2", DType::u(16)},
      {"u4", DType::u(32)},
      {"u8", DType::u(64)},
      {"f2", DType::f(16)},
      {"f4", DType::f(32)},
      {"f8", DType::f(64)},
      {"c8", {TypeCode::kComplex, 64}},
      {"c16", {TypeCode::kComplex, 128}},
  };
  for (const Row& row : kRows)
    if (row.descr == descr) return row.dtype;
  return std::nullopt;
}

bool read_dict(std::string_view text, NpyHead& head) {
  Dict dict(text);
  bool has_dtype = false, has_order = false, has_shape = false;
  if (!dict.accept("{")) return false;
  while (!dict.accept("}")) {
    std::optional<std::string_view> key = dict.string();
    if (!key || !dict.accept(":")) return false;
    if (*key == "descr" && !has_dtype) {
      std::optional<std::string_view> descr = dict.string();
      if (!descr || descr->size() < 3) return head.known_dtype = false, true;  // a list describes records
      std::optional<DType> dtype = dtype_of(descr->substr(1));
      head.swapped = descr->front() == '>';
      head.known_dtype = dtype && std::string_view("<>|=").find(descr->front()) != std::string_view::npos;
      if (!head.known_dtype) return head.fault = std::string(*descr), true;
      head.dtype = *dtype;
      has_dtype = true;
    } else if (*key == "fortran_order" && !has_order) {
      head.column_major = dict.accept("True");
      if (!head.column_major && !dict.accept("False")) return false;
      has_order = true;
    } else if (*key == "shape" && !has_shape) {
      if (!dict.shape(head.shape)) return false;
      has_shape = true;
    } else {
      return false;
    }
    if (!dict.accept(",") && !dict.accept("}")) return false;
    if (has_dtype && has_order && has_shape) break;
  }
  dict.accept("}");
  return has_dtype && has_order && has_shape && dict.at_end();
}

}  // namespace

NpyHead read_npy_head(std::span<const std::byte> bytes) {
  NpyHead head;
  auto fail = [&](std::string fault) {
    head.fault = std::move(fault);
    return head;
  };
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) return fail("does not begin as an .npy file does");
  if (text.size() < 10) return fail("is cut");
  uint8_t version = static_cast<uint8_t>(text[6]);
  if (version < 1 || version > 3) return fail(fmt::format("is of version {}, and 1 to 3 are read", version));
  size_t begin = version == 1 ? 10 : 12;
  uint32_t length = 0;
  if (text.size() < begin) return fail("is cut");
  std::memcpy(&length, bytes.data() + 8, version == 1 ? 2 : 4);
  if (length > kLargestNpyHead - begin) return fail(fmt::format("has a head of {} bytes, which no array has", length));
  if (text.size() < begin + length) return fail("is cut");
  head.bytes = begin + length;
  bool formed = read_dict(text.substr(begin, length), head);
  if (!formed) return fail("has an invalid head");
  if (!head.known_dtype)
    return fail(
        fmt::format("has the dtype '{}'; NumPy's numbers and bools are read, and .safetensors has bfloat16 and "
                    "float8",
                    head.fault.empty() ? "of a record" : head.fault));
  return head;
}

std::vector<std::byte> plain_elements(const NpyHead& head, std::vector<std::byte> elements) {
  size_t size = static_cast<size_t>(head.dtype.bytes()), part = head.dtype.is_complex() ? size / 2 : size;
  if (head.swapped)
    for (size_t at = 0; at < elements.size(); at += part)
      std::reverse(elements.begin() + static_cast<ptrdiff_t>(at), elements.begin() + static_cast<ptrdiff_t>(at + part));
  if (!head.column_major || head.shape.size() < 2) return elements;
  std::vector<std::byte> out(elements.size());
  // Go through the result in row-major order, and keep the index of the same element in column-major order.
  size_t rank = head.shape.size(), from = 0;
  std::vector<size_t> stride(rank, 1);
  for (size_t axis = 1; axis < rank; ++axis)
    stride[axis] = stride[axis - 1] * static_cast<size_t>(head.shape[axis - 1]);
  std::vector<int64_t> index(rank, 0);
  for (size_t to = 0; to < out.size(); to += size) {
    std::memcpy(out.data() + to, elements.data() + from * size, size);
    for (size_t axis = rank; axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < head.shape[axis]) break;
      from -= stride[axis] * static_cast<size_t>(head.shape[axis]);
      index[axis] = 0;
    }
  }
  return out;
}

}  // namespace relaxc::frontend
