// selftest.cpp: the data that rlx_selftest reads.
//
// The tolerance is computed here, where floats of every format can be handled: each element of an output has a least
// and a largest correct value. Sums may be taken in another order than the interpreter's, so floats get 1e-3 of their
// value plus 1e-4 of the largest element; bytes get one step, since a sum near the middle of two may be rounded either
// way; other integers get none.
#include "compiler/api/output/selftest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "compiler/api/oracle.h"
#include "compiler/arith/float_bits.h"
#include "compiler/interface/dlpack.h"
#include "frontends/weights/zip.h"

namespace relaxc::api {
namespace {

constexpr uint32_t kInput = 0, kUnsigned = 1, kSigned = 2, kFloat = 3;  // RLX_SELFTEST_*
constexpr uint64_t kRecordBytes = 48;                                   // of an rlx_tensor, at most

uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

/// The records of an entry's table, as far as they determine how data is read.
struct Records {
  std::deque<rlx_quant> quants;
  std::vector<rlx_tensor_spec> inputs, outputs;
  std::vector<rlx_symbol> symbols;
  rlx_function function{};
  rlx_model model{};

  explicit Records(const interface::Entry& entry) {
    auto quant = [&](const interface::Tensor& tensor) -> const rlx_quant* {
      if (!tensor.quant) return nullptr;
      const interface::Quantization& q = *tensor.quant;
      return &quants.emplace_back(
          rlx_quant{q.axis, static_cast<uint32_t>(q.scale.size()), q.scale.data(), q.zero_point.data()});
    };
    auto specs = [&](const std::vector<interface::Tensor>& tensors) {
      std::vector<rlx_tensor_spec> made;
      for (const interface::Tensor& tensor : tensors) {
        interface::DLPackType type = interface::dlpack_type(tensor.dtype);
        made.push_back({tensor.name.c_str(), tensor.kind, type.code, type.bits, 0, int32_t(tensor.dims.size()),
                        tensor.dims.data(), quant(tensor), tensor.pair, tensor.append_axis, nullptr});
      }
      return made;
    };
    inputs = specs(entry.inputs);
    outputs = specs(entry.outputs);
    for (const interface::Symbol& symbol : entry.symbols)
      symbols.push_back({symbol.name.c_str(), symbol.lower, symbol.upper, symbol.multiple_of});
    function.num_inputs = static_cast<uint32_t>(inputs.size());
    function.num_outputs = static_cast<uint32_t>(outputs.size());
    function.num_symbols = static_cast<uint32_t>(symbols.size());
    function.inputs = inputs.data();
    function.outputs = outputs.data();
    function.symbols = symbols.data();
    model.spec_size = sizeof(rlx_tensor_spec);
  }
};

class Data {
 public:
  void word(uint32_t value) { append(&value, sizeof value); }
  void number(uint64_t value) { append(&value, sizeof value); }
  void append(const void* bytes, size_t size) {
    const auto* begin = static_cast<const std::byte*>(bytes);
    data_.insert(data_.end(), begin, begin + size);
  }
  void pad() { data_.resize(round_up(data_.size(), 8)); }
  std::vector<std::byte> take() { return std::move(data_); }

 private:
  std::vector<std::byte> data_;
};

void head(Data& data, const relax::HostTensor& tensor, uint32_t order) {
  data.word(static_cast<uint32_t>(tensor.shape.size()));
  data.word(order);
  for (int64_t dim : tensor.shape) data.number(static_cast<uint64_t>(dim));
  data.number(tensor.bytes.size());
}

uint32_t order_of(DType dtype) {
  if (dtype.code == TypeCode::kFloat8E8M0FNU) return kUnsigned;
  return dtype.is_float() ? kFloat : dtype.is_int() ? kSigned : kUnsigned;
}

/// Returns the smallest (`sign` -1) or largest (1) value that each element may have.
std::vector<std::byte> limits(const relax::HostTensor& tensor, double sign) {
  auto size = static_cast<size_t>(tensor.dtype.bytes());
  double largest = 0;
  bool has_step = tensor.dtype.is_integer() && tensor.dtype.bits <= 8;
  std::vector<std::byte> out = tensor.bytes;
  for (size_t at = 0; at < out.size(); at += size) {
    double value = std::fabs(relax::decode_scalar(tensor.dtype, &tensor.bytes[at]));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  for (size_t at = 0; at < out.size(); at += size) {
    double value = relax::decode_scalar(tensor.dtype, &tensor.bytes[at]);
    if (has_step) {
      double least = tensor.dtype.is_int() ? -std::ldexp(1, tensor.dtype.bits - 1) : 0;
      double most = least + std::ldexp(1, tensor.dtype.bits) - 1;
      value = std::clamp(value + sign, least, most);
    } else if (order_of(tensor.dtype) == kFloat && std::isfinite(value)) {
      value += sign * (1e-3 * std::fabs(value) + 1e-4 * largest);
    } else {
      continue;
    }
    std::vector<std::byte> bytes = relax::encode_scalar(tensor.dtype, value);
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return out;
}

bool has_nan(const relax::HostTensor& tensor) {
  if (!tensor.dtype.is_float()) return false;
  auto size = static_cast<size_t>(tensor.dtype.bytes());
  for (size_t at = 0; at < tensor.bytes.size(); at += size)
    if (std::isnan(relax::decode_scalar(tensor.dtype, &tensor.bytes[at]))) return true;
  return false;
}

uint32_t weights_checksum(const interface::Weights& weights) {
  uint32_t crc = 0;
  if (weights.bytes > 0)
    weights.stream([&](const std::byte* data, size_t size) { crc = frontend::zip_checksum(crc, {data, size}); });
  return crc;
}

Result<DataSet> data_of(const CompileOptions& options, const interface::Entry& entry, Diagnostics& diag) {
  Records records(entry);
  RELAXC_TRY(std::vector<DataSet> sets, read_data(records.model, records.function, options.selftest_data, {}, diag));
  DataSet set = std::move(sets.front());
  if (options.selftest_data.empty()) RELAXC_DO(fill_randomly(records.model, records.function, 0, set, diag));
  for (size_t i = 0; i < set.inputs.size(); ++i)
    if (!set.inputs[i])
      return diag.error(nullptr, Kind::usage, "--selftest-data gives nothing for input '{}'", entry.inputs[i].name);
  bool complete = std::all_of(set.expected.begin(), set.expected.end(), [](const auto& t) { return t.has_value(); });
  if (complete) return set;
  Oracle oracle(options, entry.name, diag);
  RELAXC_DO(oracle.read());
  Result<std::vector<relax::HostTensor>> outputs = oracle.run(set.inputs);
  if (!outputs) return diag.error(nullptr, Kind::invalid_value, "the self-test has no expected outputs for its inputs");
  set.expected.assign(outputs->begin(), outputs->end());
  return set;
}

}  // namespace

Result<interface::Selftest> make_selftest(const CompileOptions& options, const interface::Object& object,
                                          Diagnostics& diag) {
  size_t index = 0;
  for (size_t i = 0; i < object.entries.size(); ++i)
    if (object.entries[i].name == "main") index = i;
  if (object.entries.empty())
    return diag.error(nullptr, Kind::usage, "--emit-selftest: the model has no function to test");
  const interface::Entry& entry = object.entries[index];
  if (entry.arena_max == UINT64_MAX)
    return diag.error(nullptr, Kind::usage, "--emit-selftest: the arena of '{}' has no bound; bound it with --dim",
                      entry.name);
  RELAXC_TRY(DataSet set, data_of(options, entry, diag));
  interface::Selftest made;
  made.arena_bytes =
      round_up(entry.arena_max, 64) + round_up((set.inputs.size() + set.expected.size()) * kRecordBytes, 64);
  Data data;
  data.word(static_cast<uint32_t>(index));
  data.word(weights_checksum(object.weights));
  data.number(0);
  for (const auto& input : set.inputs) {
    head(data, *input, kInput);
    data.append(input->bytes.data(), input->bytes.size());
    data.pad();
    made.arena_bytes += round_up(8 * input->shape.size(), 64);
  }
  for (size_t i = 0; i < set.expected.size(); ++i) {
    const relax::HostTensor& output = *set.expected[i];
    if (has_nan(output))
      return diag.error(nullptr, Kind::usage,
                        "--emit-selftest: output '{}' has NaN for these inputs; give others with --selftest-data",
                        entry.outputs[i].name);
    head(data, output, order_of(output.dtype));
    for (double sign : {-1.0, 1.0}) {
      std::vector<std::byte> limit = limits(output, sign);
      data.append(limit.data(), limit.size());
    }
    data.pad();
    made.arena_bytes += round_up(8 * output.shape.size(), 64) + round_up(output.bytes.size(), 64);
  }
  made.data = data.take();
  return made;
}

}  // namespace relaxc::api
