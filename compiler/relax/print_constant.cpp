// print_constant.cpp: prints constants in the text IR as nested lists, the argument of R.const.
//
// Lists cannot express the length of rows if there are no rows, so a shape with a dim of zero is printed beside them.
#include "compiler/relax/print_constant.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/arith/print.h"

namespace relaxc::relax {
namespace {

constexpr int64_t kMostInPlace = 64;

class ConstantPrinter {
 public:
  explicit ConstantPrinter(const ConstantData& data) : data_(data), bytes_(data.to_vector()) {}

  std::string text() {
    const std::vector<int64_t>& shape = data_.shape();
    bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    std::string values = empty ? "[]" : list(0);
    std::string out = fmt::format("R.const({}, \"{}\"", values, to_string(data_.dtype()));
    if (empty && shape.size() > 1) {
      out += ", shape=(";
      for (size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
      out += ")";
    }
    return out + ")";
  }

 private:
  std::string list(size_t axis) {
    if (axis == data_.shape().size()) return element();
    std::string out = "[";
    for (int64_t i = 0; i < data_.shape()[axis]; ++i) out += (i == 0 ? "" : ", ") + list(axis + 1);
    return out + "]";
  }

  std::string element() {
    DType dtype = data_.dtype();
    const std::byte* at = bytes_.data() + next_++ * static_cast<size_t>(dtype.bytes());
    if (dtype.is_float()) {
      std::string text = arith::float_text(decode_scalar(dtype, at), dtype);
      return text[0] == '"' ? "float(" + text + ")" : text;
    }
    int64_t value = decode_integer(dtype, at);
    if (dtype.is_bool()) return value != 0 ? "True" : "False";
    // INT64_MIN and numbers above INT64_MAX have no decimal literal in the text, only a hexadecimal one.
    bool unsigned_only = dtype == DType::u(64) && value < 0;
    if (value == INT64_MIN || unsigned_only) return fmt::format("0x{:x}", static_cast<uint64_t>(value));
    return std::to_string(value);
  }

  const ConstantData& data_;
  std::vector<std::byte> bytes_;
  size_t next_ = 0;
};

}  // namespace

bool prints_in_place(const ConstantData& data) {
  DType dtype = data.dtype();
  return data.elements() <= kMostInPlace && (dtype.is_float() || dtype.is_integer() || dtype.is_bool());
}

std::string constant_text(const ConstantData& data) {
  return ConstantPrinter(data).text();
}

}  // namespace relaxc::relax
