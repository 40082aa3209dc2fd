// selftest.cpp: prints the self-test's data for machines of either byte order.
//
// Its words and the limits of outputs are always little-endian. Kernels read the elements of inputs, which therefore
// have the machine's byte order, as weights do; the other byte order gives them another checksum.
#include "compiler/codegen/c/selftest.h"

#include <fmt/format.h>

#include <array>

namespace relaxc::codegen_c {
namespace {

constexpr uint64_t kHeadBytes = 16, kChecksumAt = 4;
constexpr std::string_view kInputMacro = "RLX_INPUT_";

/// CRC-32 of IEEE 802.3, as rlx_selftest computes it.
class Checksum {
 public:
  Checksum() {
    for (uint32_t i = 0; i < table_.size(); ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xedb88320u ^ value >> 1 : value >> 1;
      table_[i] = value;
    }
  }
  void add(std::byte byte) { sum_ = table_[(sum_ ^ static_cast<uint32_t>(byte)) & 255] ^ sum_ >> 8; }
  uint32_t value() const { return ~sum_; }

 private:
  std::array<uint32_t, 256> table_{};
  uint32_t sum_ = 0xffffffff;
};

/// The checksum of the weights with the bytes of every element in reverse.
uint32_t swapped_checksum(const interface::Weights& weights, const std::vector<ElementRun>& runs) {
  Checksum sum;
  uint64_t at = 0;
  size_t run = 0;
  std::vector<std::byte> element;
  if (weights.bytes == 0) return sum.value();
  weights.stream([&](const std::byte* data, size_t size) {
    for (size_t i = 0; i < size; ++i, ++at) {
      while (run < runs.size() && runs[run].offset + runs[run].bytes <= at) ++run;
      const bool inside = run < runs.size() && runs[run].offset <= at;
      element.push_back(data[i]);
      if (element.size() < (inside ? runs[run].element_bytes : 1)) continue;
      for (auto byte = element.rbegin(); byte != element.rend(); ++byte) sum.add(*byte);
      element.clear();
    }
  });
  return sum.value();
}

uint64_t number(const std::vector<std::byte>& data, uint64_t at, uint32_t bytes) {
  uint64_t value = 0;
  for (uint32_t i = bytes; i > 0; --i) value = value << 8 | static_cast<uint64_t>(data[at + i - 1]);
  return value;
}

/// The places of the inputs' elements in the data, whose format is that of rlx_selftest in rlx_internal.h.
std::vector<ElementRun> input_runs(const interface::Object& object) {
  const std::vector<std::byte>& data = object.selftest.data;
  const interface::Entry& entry = object.entries[number(data, 0, 4)];
  std::vector<ElementRun> runs;
  uint64_t at = kHeadBytes;
  for (const interface::Tensor& input : entry.inputs) {
    const uint64_t bytes_at = at + 8 + 8 * number(data, at, 4), bytes = number(data, bytes_at, 8);
    runs.push_back({bytes_at + 8, bytes, static_cast<uint32_t>(input.dtype.bytes())});
    at = bytes_at + 8 + (bytes + 7) / 8 * 8;
  }
  return runs;
}

}  // namespace

std::string selftest_data_text(const interface::Object& object, const std::vector<ElementRun>& runs) {
  const std::vector<std::byte>& data = object.selftest.data;
  if (data.empty()) return {};
  std::vector<ElementRun> own = input_runs(object);
  std::string text = byte_order_macros(own, kInputMacro);
  auto define = [](uint64_t sum) {
    return fmt::format("#define RLX_CHECKSUM {}, {}, {}, {}\n", sum & 255, sum >> 8 & 255, sum >> 16 & 255, sum >> 24);
  };
  const uint64_t stored = number(data, kChecksumAt, 4);
  text +=
      on_byte_order(define(object.weights.separate ? stored : swapped_checksum(object.weights, runs)), define(stored));
  text += fmt::format("static const union {{\n  uint8_t bytes[{}];\n  int64_t alignment;\n}} rlx_selftest_data = {{{{",
                      data.size());
  ByteArray array(own, kInputMacro);
  array.append(data.data(), kChecksumAt, text);
  text += "RLX_CHECKSUM,";
  std::string skipped;
  array.append(data.data() + kChecksumAt, 4, skipped);
  array.append(data.data() + kChecksumAt + 4, data.size() - kChecksumAt - 4, text);
  return text + "\n}};\n\n";
}

}  // namespace relaxc::codegen_c
