// tensor_files.cpp: reads .npy and .pb by the code that compiled models use; .npz and .safetensors like files of
// weights.
#include "compiler/api/input/tensor_files.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "compiler/equivalence/stored.h"
#include "compiler/interface/dlpack.h"
#include "compiler/support/unicode.h"
#include "frontends/weights/weights.h"

extern "C" {
#include "runtime-lite/runner/call.h"
}

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

interface::Quantization quantization_of(const rlx_quant& quant) {
  return {quant.axis, {quant.scale, quant.scale + quant.count}, {quant.zero_point, quant.zero_point + quant.count}};
}

std::string dtype_text(uint8_t code, uint8_t bits) {
  std::optional<DType> dtype = dtype_of(code, bits);
  return dtype ? to_string(*dtype) : fmt::format("type {} of {} bits", code, bits);
}

/// The inputs or the outputs of a call, which are filled from files.
class Side {
 public:
  Side(const rlx_model& model, const rlx_tensor_spec* specs, uint32_t count, const char* what, Diagnostics& diag)
      : model_(model), specs_(specs), count_(count), what_(what), diag_(diag) {}

  const rlx_tensor_spec& spec(uint32_t index) const { return *rlx_spec_at(&model_, specs_, index); }

  std::optional<uint32_t> find(const std::string& name) const {
    for (uint32_t i = 0; i < count_; ++i)
      if (name == spec(i).name) return i;
    return std::nullopt;
  }

  std::string names() const {
    std::string list;
    for (uint32_t i = 0; i < count_; ++i) list += (i == 0 ? "" : ", ") + std::string(spec(i).name);
    return list.empty() ? "none" : list;
  }

  /// Adds FILE or NAME=FILE. A .npz or .safetensors names its tensors; other files without NAME fill the next place.
  Status add(const std::string& text, Tensors& into) {
    Diagnostics& diag = diag_;
    std::string path = text;
    std::optional<uint32_t> index;
    if (size_t equals = text.find('='); equals != std::string::npos && !fs::exists(text)) {
      path = text.substr(equals + 1);
      index = find(text.substr(0, equals));
      if (!index)
        return diag.error(nullptr, Kind::usage, "there is no {} named '{}'; there are: {}", what_,
                          text.substr(0, equals), names());
    }
    std::string extension = fs::path(path).extension().string();
    if (!index && (extension == ".npz" || extension == ".safetensors")) return add_named(path, into);
    if (!index) {
      auto next = std::find(into.begin(), into.end(), std::nullopt);
      if (next == into.end())
        return diag.error(nullptr, Kind::usage, "there is no {} left for {}; there are: {}", what_, text, names());
      index = static_cast<uint32_t>(next - into.begin());
    }
    return add_file(path, *index, into);
  }

  Status add_file(const std::string& path, uint32_t index, Tensors& into) {
    rlx_array array{};
    if (const char* why = rlx_array_read(path.c_str(), &spec(index), &array); why != nullptr)
      return diag_.error(nullptr, Kind::io, "cannot read {}: {}", path, why);
    std::optional<relax::HostTensor> tensor;
    if (std::optional<DType> dtype = dtype_of(array.code, array.bits)) {
      tensor = relax::HostTensor{*dtype, {array.dims, array.dims + array.ndim}, std::vector<std::byte>(array.bytes)};
      if (array.bytes != 0) std::memcpy(tensor->bytes.data(), array.data, array.bytes);
    }
    std::string found = dtype_text(array.code, array.bits);
    std::free(array.data);
    return put(path, index, std::move(tensor), found, into);
  }

 private:
  Status add_named(const std::string& path, Tensors& into) {
    Diagnostics& diag = diag_;
    RELAXC_TRY(frontend::NamedConstants tensors, frontend::read_weights(path, nullptr, diag));
    for (const auto& [name, data] : tensors) {
      std::optional<uint32_t> index = find(name);
      if (!index)
        return diag.error(nullptr, Kind::usage, "{} holds '{}', which is not an {}; there are: {}", path, name, what_,
                          names());
      RELAXC_DO(put(path, *index, relax::HostTensor{data->dtype(), data->shape(), data->to_vector()},
                    to_string(data->dtype()), into));
    }
    return Done{};
  }

  Status put(const std::string& path, uint32_t index, std::optional<relax::HostTensor> tensor, const std::string& found,
             Tensors& into) {
    const rlx_tensor_spec& wanted = spec(index);
    std::optional<DType> dtype = dtype_of(wanted.dtype_code, wanted.dtype_bits);
    if (tensor && dtype && wanted.quant != nullptr && tensor->dtype == DType::f(32))
      tensor = equivalence::stored(quantization_of(*wanted.quant), *tensor, *dtype);
    if (into[index])
      return diag_.error(nullptr, Kind::usage, "{}: a tensor for '{}' is given already", path, wanted.name);
    if (!tensor || dtype != tensor->dtype)
      return diag_.error(nullptr, Kind::dtype_mismatch, "{} holds {}, but {} '{}' is {}", path, found, what_,
                         wanted.name, dtype_text(wanted.dtype_code, wanted.dtype_bits));
    into[index] = std::move(tensor);
    return Done{};
  }

  const rlx_model& model_;
  const rlx_tensor_spec* specs_;
  uint32_t count_;
  const char* what_;
  Diagnostics& diag_;
};

/// Returns the folders of data sets: `folder` itself, or its test_data_set_K in the order of K.
std::vector<fs::path> set_folders(const fs::path& folder) {
  for (int k = 0; k < 2; ++k)
    if (fs::exists(folder / (k == 0 ? "input_0.pb" : "output_0.pb"))) return {folder};
  std::vector<fs::path> found;
  for (int k = 0; fs::is_directory(folder / fmt::format("test_data_set_{}", k)); ++k)
    found.push_back(folder / fmt::format("test_data_set_{}", k));
  return found;
}

Status read_folder(const fs::path& folder, Side& inputs, Side& outputs, DataSet& set) {
  set.name = folder.filename().string();
  for (Side* side : {&inputs, &outputs}) {
    Tensors& into = side == &inputs ? set.inputs : set.expected;
    for (uint32_t i = 0; i < into.size(); ++i) {
      fs::path file = folder / fmt::format("{}_{}.pb", side == &inputs ? "input" : "output", i);
      if (fs::exists(file)) RELAXC_DO(side->add_file(file.string(), i, into));
    }
  }
  return Done{};
}

/// The generator splitmix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(int64_t seed) : state_(static_cast<uint64_t>(seed)) {}
  uint64_t bits() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  /// Returns a number in [-1, 1).
  double real() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; }

 private:
  uint64_t state_;
};

relax::HostTensor random_tensor(DType dtype, std::vector<int64_t> shape, Random& random) {
  relax::HostTensor made{dtype, std::move(shape), {}};
  int64_t count = made.elements();
  for (int64_t i = 0; i < count; ++i) {
    double value = 0;
    if (dtype.is_float())
      value = random.real();
    else if (dtype.is_integer() && dtype.bits <= 8)
      value = static_cast<double>(random.bits() >> (64 - dtype.bits)) - (dtype.is_int() ? 1 << (dtype.bits - 1) : 0);
    else
      value = static_cast<double>(random.bits() >> 63);
    std::vector<std::byte> bytes = relax::encode_scalar(dtype, value);
    made.bytes.insert(made.bytes.end(), bytes.begin(), bytes.end());
  }
  return made;
}

}  // namespace

std::optional<DType> dtype_of(uint8_t code, uint8_t bits) {
  static constexpr const char* kNames[] = {"bool",
                                           "int8",
                                           "int16",
                                           "int32",
                                           "int64",
                                           "uint8",
                                           "uint16",
                                           "uint32",
                                           "uint64",
                                           "float16",
                                           "float32",
                                           "float64",
                                           "bfloat16",
                                           "float8_e4m3fn",
                                           "float8_e4m3fnuz",
                                           "float8_e5m2",
                                           "float8_e5m2fnuz",
                                           "float8_e8m0fnu",
                                           "float4_e2m1fn",
                                           "int4",
                                           "uint4",
                                           "int2",
                                           "uint2"};
  for (const char* name : kNames) {
    std::optional<DType> dtype = parse_dtype(name);
    interface::DLPackType type = interface::dlpack_type(*dtype);
    if (type.code == code && type.bits == bits) return dtype;
  }
  return std::nullopt;
}

Result<std::vector<DataSet>> read_data(const rlx_model& model, const rlx_function& f,
                                       const std::vector<std::string>& inputs, const std::vector<std::string>& expected,
                                       Diagnostics& diag) {
  Side in(model, f.inputs, f.num_inputs, "input", diag), out(model, f.outputs, f.num_outputs, "output", diag);
  auto empty = [&] { return DataSet{"files", Tensors(f.num_inputs), Tensors(f.num_outputs)}; };
  std::vector<DataSet> sets;
  DataSet single = empty();
  bool any = false;
  for (const std::string& text : inputs) {
    if (!fs::is_directory(text)) {
      any = true;
      RELAXC_DO(in.add(text, single.inputs));
      continue;
    }
    std::vector<fs::path> folders = set_folders(text);
    if (folders.empty())
      return diag.error(nullptr, Kind::io, "{} has neither input_0.pb nor a folder test_data_set_0", text);
    for (const fs::path& folder : folders) {
      sets.push_back(empty());
      RELAXC_DO(read_folder(fs::absolute(folder).lexically_normal(), in, out, sets.back()));
    }
  }
  for (const std::string& text : expected) {
    any = true;
    RELAXC_DO(out.add(text, single.expected));
  }
  if (any && !sets.empty())
    return diag.error(nullptr, Kind::usage, "folders of data and single files cannot be given together");
  if (sets.empty()) sets.push_back(std::move(single));
  return sets;
}

namespace {

/// Whether a tensor of this shape has at most 4 GB.
bool can_be_filled(DType dtype, const std::vector<int64_t>& shape) {
  constexpr int64_t kMostBytes = int64_t{4} << 30;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  int64_t most = kMostBytes / std::max<int64_t>(dtype.bytes(), 1);
  for (int64_t dim : shape) most /= dim;
  return most > 0;
}

}  // namespace

Status fill_randomly(const rlx_model& model, const rlx_function& f, int64_t seed, DataSet& set, Diagnostics& diag) {
  std::vector<int64_t> symbols;
  for (uint32_t s = 0; s < f.num_symbols; ++s) {
    const rlx_symbol& symbol = f.symbols[s];
    int64_t least = std::max<int64_t>(symbol.lower, symbol.upper >= 1 ? 1 : 0);
    symbols.push_back((least + symbol.multiple_of - 1) / symbol.multiple_of * symbol.multiple_of);
  }
  for (uint32_t i = 0; i < f.num_inputs; ++i) {
    const rlx_tensor_spec& spec = *rlx_spec_at(&model, f.inputs, i);
    for (int32_t axis = 0; set.inputs[i] && axis < spec.ndim; ++axis)
      if (int64_t dim = spec.dims[axis]; dim < 0 && dim != INT64_MIN && axis < int32_t(set.inputs[i]->shape.size()))
        symbols[static_cast<size_t>(-1 - dim)] = set.inputs[i]->shape[static_cast<size_t>(axis)];
  }
  Random random(seed);
  for (uint32_t i = 0; i < f.num_inputs; ++i) {
    const rlx_tensor_spec& spec = *rlx_spec_at(&model, f.inputs, i);
    std::optional<DType> dtype = dtype_of(spec.dtype_code, spec.dtype_bits);
    if (set.inputs[i] || !dtype) continue;
    std::vector<int64_t> shape;
    for (int32_t axis = 0; axis < spec.ndim; ++axis) {
      int64_t dim = spec.dims[axis];
      shape.push_back(dim >= 0 ? dim : dim == INT64_MIN ? 1 : symbols[static_cast<size_t>(-1 - dim)]);
    }
    if (!can_be_filled(*dtype, shape))
      return diag.error(nullptr, Kind::invalid_value, "input '{}' would have more than 4 GB of random numbers: [{}]",
                        spec.name, fmt::join(shape, ", "));
    set.inputs[i] = random_tensor(*dtype, std::move(shape), random);
  }
  return Done{};
}

std::vector<std::string> file_stems(const std::vector<std::string>& names) {
  constexpr size_t kLongest = 200;  // most file systems allow 255 bytes
  auto stem_of = [](const std::string& name) {
    std::string stem = with_visible(name, [](std::string_view) { return std::string("_"); });
    std::replace(stem.begin(), stem.end(), '/', '_');
    size_t end = std::min(stem.size(), size_t{kLongest});
    while (end < stem.size() && (stem[end] & 0xC0) == 0x80) --end;  // cut at a character, not inside of one
    return stem.substr(0, end);
  };
  std::vector<std::string> stems;
  std::set<std::string> taken;
  for (const std::string& name : names)  // unchanged names have precedence
    if (stem_of(name) == name) taken.insert(name);
  std::set<std::string> given;
  for (size_t i = 0; i < names.size(); ++i) {
    std::string stem = names[i].empty() ? fmt::format("output_{}", i) : stem_of(names[i]), made = stem;
    bool exact = stem == names[i] && given.insert(stem).second;
    for (int k = 1; !exact && !taken.insert(made).second; ++k) made = fmt::format("{}_{}", stem, k);
    stems.push_back(made);
  }
  return stems;
}

Status write_npy(const std::string& folder, const std::string& name, const relax::HostTensor& tensor,
                 Diagnostics& diag) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::string path = (fs::path(folder) / (name + ".npy")).string();
  rlx_array array{};
  interface::DLPackType type = interface::dlpack_type(tensor.dtype);
  array.code = type.code;
  array.bits = type.bits;
  array.ndim = static_cast<int32_t>(tensor.shape.size());
  std::copy(tensor.shape.begin(), tensor.shape.end(), array.dims);
  array.data = const_cast<std::byte*>(tensor.bytes.data());
  array.bytes = tensor.bytes.size();
  const char* why = rlx_npy_write(path.c_str(), &array);
  return why == nullptr ? Status(Done{}) : Status(diag.error(nullptr, Kind::io, "cannot write {}: {}", path, why));
}

}  // namespace relaxc::api
