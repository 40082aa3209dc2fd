// known.cpp: converts constants to known contents and back.
#include "frontends/onnx/known.h"

#include <cstring>

namespace relaxc::frontend {

std::optional<std::vector<int64_t>> Known::constants() const {
  std::vector<int64_t> values;
  for (arith::Expr element : elements) {
    if (element.constant() == nullptr) return std::nullopt;
    values.push_back(*element.constant());
  }
  return values;
}

std::optional<Known> known_constant(arith::Context& context, const relax::ConstantData& data) {
  if (!Known::follows(data.dtype()) || data.elements() > kMostKnown) return std::nullopt;
  Known known{data.dtype(), data.shape(), {}};
  data.with_bytes([&](std::span<const std::byte> bytes) {
    size_t step = static_cast<size_t>(data.dtype().bytes());
    for (size_t at = 0; at < bytes.size(); at += step)
      known.elements.push_back(context.index(relax::decode_integer(data.dtype(), bytes.data() + at)));
  });
  return known;
}

relax::ConstantRef constant_of(const Known& known) {
  size_t step = static_cast<size_t>(known.dtype.bytes());
  std::vector<std::byte> bytes(known.elements.size() * step);
  for (size_t i = 0; i < known.elements.size(); ++i) {
    RELAXC_CHECK(known.elements[i].constant() != nullptr, "a symbol in a constant");
    int64_t value = *known.elements[i].constant();
    std::memcpy(bytes.data() + i * step, &value, step);
  }
  return relax::ConstantData::inline_bytes(known.dtype, known.shape, std::move(bytes));
}

}  // namespace relaxc::frontend
