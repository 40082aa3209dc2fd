// model.cpp: see model.h. The verifier of FlatBuffers makes sure that every offset leads to a table of the right type
// inside the file; this file checks what the verifier cannot know: that numbers in different tables are consistent.
#include "frontends/tflite/model.h"

#include <algorithm>
#include <cstring>

namespace relaxc::tflite {
namespace {

namespace schema = tflite_schema;

constexpr uint32_t kVersion = 3;
constexpr int64_t kMostElements = INT64_MAX / 64;
constexpr size_t kMostRank = 16;
constexpr flatbuffers::uoffset_t kMostTables = 50'000'000, kDeepestTable = 64;

template <typename T>
size_t count(const flatbuffers::Vector<T>* list) {
  return list == nullptr ? 0 : list->size();
}

std::string text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string() : text->str();
}

/// Returns the bits of one stored element; 0 if it has no fixed size or the type is unknown.
int64_t bits_of(TensorType type) {
  switch (type) {
    case TensorType::INT4:
    case TensorType::UINT4:
      return 4;
    case TensorType::INT2:
      return 2;
    case TensorType::UINT8:
    case TensorType::INT8:
    case TensorType::BOOL:
    case TensorType::FLOAT8_E4M3FN:
    case TensorType::FLOAT8_E5M2:
      return 8;
    case TensorType::FLOAT16:
    case TensorType::BFLOAT16:
    case TensorType::INT16:
    case TensorType::UINT16:
      return 16;
    case TensorType::FLOAT32:
    case TensorType::INT32:
    case TensorType::UINT32:
      return 32;
    case TensorType::INT64:
    case TensorType::UINT64:
    case TensorType::FLOAT64:
    case TensorType::COMPLEX64:
      return 64;
    case TensorType::COMPLEX128:
      return 128;
    default:
      return 0;
  }
}

class Reader {
 public:
  /// `base` is the start of the bytes that `root` lies in.
  Reader(Model& model, const schema::Model& root, const void* base, Location where, Diagnostics& diag)
      : model_(model), root_(root), base_(base), where_(where), diag(diag) {}

  Status run() {
    if (root_.version() != kVersion)
      return diag.error(where_, Kind::unsupported, "the file is of schema version {}; {} is supported", root_.version(),
                        kVersion);
    RELAXC_DO(metadata());
    if (count(root_.subgraphs()) == 0) return malformed("the model has no subgraph");
    for (flatbuffers::uoffset_t i = 0; i < root_.subgraphs()->size(); ++i)
      RELAXC_DO(subgraph(*root_.subgraphs()->Get(i), i));
    return Done{};
  }

 private:
  template <typename... Args>
  Failure malformed(fmt::format_string<Args...> text, Args&&... args) {
    return diag.error(where_, Kind::malformed_model, text, std::forward<Args>(args)...);
  }

  Result<std::span<const std::byte>> buffer(uint32_t index, const std::string& who) {
    if (index >= count(root_.buffers()))
      return malformed("{} is in buffer {}; the model has {}", who, index, count(root_.buffers()));
    const schema::Buffer* found = root_.buffers()->Get(index);
    // In files beyond 2 GiB, buffers lie after the tables, at an offset from the start of the file.
    if (found->offset() > 1) {
      std::span<const std::byte> bytes = model_.file->bytes();
      if (found->offset() > bytes.size() || found->size() > bytes.size() - found->offset())
        return malformed("{} is at offset {} with {} bytes; the file has {}", who, found->offset(), found->size(),
                         bytes.size());
      return bytes.subspan(found->offset(), found->size());
    }
    if (found->data() == nullptr) return std::span<const std::byte>();
    auto at = static_cast<size_t>(found->data()->data() - reinterpret_cast<const uint8_t*>(base_));
    return model_.file->bytes().subspan(at, found->data()->size());
  }

  Status metadata() {
    for (flatbuffers::uoffset_t i = 0; i < count(root_.metadata()); ++i) {
      const schema::Metadata& entry = *root_.metadata()->Get(i);
      std::string name = text_of(entry.name());
      RELAXC_TRY(model_.notes[name], buffer(entry.buffer(), "metadata '" + name + "'"));
    }
    return Done{};
  }

  Status subgraph(const schema::SubGraph& raw, size_t number) {
    Subgraph& graph = model_.subgraphs.emplace_back();
    graph.name = text_of(raw.name());
    for (flatbuffers::uoffset_t i = 0; i < count(raw.tensors()); ++i) {
      RELAXC_TRY(Tensor read, tensor(*raw.tensors()->Get(i), i));
      graph.tensors.push_back(std::move(read));
    }
    std::string who = "subgraph " + std::to_string(number);
    RELAXC_TRY(graph.inputs, indices(raw.inputs(), graph, who + " takes", false));
    RELAXC_TRY(graph.outputs, indices(raw.outputs(), graph, who + " gives", false));
    for (flatbuffers::uoffset_t i = 0; i < count(raw.operators()); ++i)
      RELAXC_DO(operation(*raw.operators()->Get(i), graph, who + " operator " + std::to_string(i)));
    return Done{};
  }

  Result<std::vector<int32_t>> indices(const flatbuffers::Vector<int32_t>* list, const Subgraph& graph,
                                       const std::string& who, bool optional) {
    std::vector<int32_t> out;
    for (flatbuffers::uoffset_t i = 0; i < count(list); ++i) {
      int32_t index = list->Get(i);
      if (index < (optional ? -1 : 0) || index >= static_cast<int64_t>(graph.tensors.size()))
        return malformed("{} tensor {}; there are {}", who, index, graph.tensors.size());
      out.push_back(index);
    }
    return out;
  }

  Result<Tensor> tensor(const schema::Tensor& raw, size_t number) {
    Tensor out;
    out.name = text_of(raw.name());
    if (out.name.empty()) out.name = "tensor_" + std::to_string(number);
    std::string who = "tensor '" + out.name + "'";
    out.type = raw.type();
    out.is_variable = raw.is_variable();
    if (raw.sparsity() != nullptr) return diag.error(where_, Kind::unsupported, "{} is sparse; store it densely", who);
    RELAXC_DO(shape(raw, out, who));
    RELAXC_DO(quantization(raw.quantization(), out, who));
    RELAXC_TRY(out.data, buffer(raw.buffer(), who));
    out.constant = !out.data.empty() && !out.is_variable;
    RELAXC_DO(size(out, who));
    return out;
  }

  Status shape(const schema::Tensor& raw, Tensor& out, const std::string& who) {
    if (count(raw.shape()) > kMostRank)
      return diag.error(where_, Kind::unsupported, "{} has {} dims; {} are supported", who, count(raw.shape()),
                        kMostRank);
    int64_t elements = 1;
    for (flatbuffers::uoffset_t i = 0; i < count(raw.shape()); ++i) {
      int64_t extent = raw.shape()->Get(i);
      if (extent == -1) out.open = true, extent = 1;
      if (extent < 0) return malformed("{} has a dim of {}", who, extent);
      if (__builtin_mul_overflow(elements, std::max<int64_t>(extent, 1), &elements) || elements > kMostElements)
        return diag.error(where_, Kind::overflow, "the size of {} overflows", who);
      out.shape.push_back(extent);
    }
    for (flatbuffers::uoffset_t i = 0; i < count(raw.shape_signature()); ++i)
      out.open = out.open || raw.shape_signature()->Get(i) < 0;
    return Done{};
  }

  Status quantization(const schema::QuantizationParameters* raw, Tensor& out, const std::string& who) {
    if (raw == nullptr) return Done{};
    if (raw->details_type() != schema::QuantizationDetails::NONE)
      return diag.error(where_, Kind::unsupported,
                        "{} is quantized in a way of its own; only scales and zero points "
                        "are supported",
                        who);
    Quantization& quant = out.quantization;
    size_t scales = count(raw->scale()), zeros = count(raw->zero_point());
    if (scales == 0) return Done{};
    if (zeros != 0 && zeros != scales && zeros != 1)
      return malformed("{} has {} scales and {} zero points", who, scales, zeros);
    quant.scale.assign(raw->scale()->begin(), raw->scale()->end());
    for (float scale : quant.scale)
      if (!(scale >= 0) || scale > 3e38F) return malformed("{} has a scale of {}", who, scale);
    for (flatbuffers::uoffset_t i = 0; i < scales; ++i) {
      int64_t zero = zeros == 0 ? 0 : raw->zero_point()->Get(zeros == 1 ? 0 : i);
      if (zero < INT32_MIN || zero > INT32_MAX) return malformed("{} has a zero point of {}", who, zero);
      quant.zero_point.push_back(zero);
    }
    if (scales == 1) return Done{};
    quant.axis = raw->quantized_dimension();
    if (quant.axis < 0 || static_cast<size_t>(quant.axis) >= out.shape.size() ||
        out.shape[static_cast<size_t>(quant.axis)] != static_cast<int64_t>(scales))
      return malformed("{} has {} scales along axis {} of [{}]", who, scales, quant.axis, fmt::join(out.shape, ", "));
    return Done{};
  }

  Status size(const Tensor& tensor, const std::string& who) {
    int64_t bits = bits_of(tensor.type), elements = 1;
    if (tensor.data.empty() || bits == 0) return Done{};
    for (int64_t extent : tensor.shape) elements *= extent;
    auto needed = static_cast<size_t>((elements * bits + 7) / 8);
    if (tensor.data.size() != needed)
      return malformed("{} has {} bytes; {}[{}] takes {}", who, tensor.data.size(), type_name(tensor.type),
                       fmt::join(tensor.shape, ", "), needed);
    return Done{};
  }

  Status operation(const schema::Operator& raw, Subgraph& graph, const std::string& who) {
    if (raw.opcode_index() >= count(root_.operator_codes()))
      return malformed("{} has code {}; the model has {}", who, raw.opcode_index(), count(root_.operator_codes()));
    const schema::OperatorCode& code = *root_.operator_codes()->Get(raw.opcode_index());
    Operator op;
    op.raw = &raw;
    op.version = code.version();
    // Codes beyond 127 do not fit into the first field; older writers fill only that one.
    op.code = static_cast<BuiltinOperator>(
        std::max<int32_t>(code.deprecated_builtin_code(), static_cast<int32_t>(code.builtin_code())));
    op.custom_code = text_of(code.custom_code());
    RELAXC_TRY(op.inputs, indices(raw.inputs(), graph, who + " reads", true));
    RELAXC_TRY(op.outputs, indices(raw.outputs(), graph, who + " writes", false));
    if (raw.custom_options() != nullptr)
      op.custom_options = std::as_bytes(std::span(raw.custom_options()->data(), raw.custom_options()->size()));
    if (raw.large_custom_options_offset() > 1)
      return diag.error(where_, Kind::unsupported, "{} has custom options outside of the tables", who);
    graph.operators.push_back(std::move(op));
    return Done{};
  }

  Model& model_;
  const schema::Model& root_;
  const void* base_;
  Location where_;
  Diagnostics& diag;
};

}  // namespace

bool is_tflite(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 &&
         std::equal(bytes.begin() + 4, bytes.begin() + 8, std::as_bytes(std::span("TFL3", 4)).begin());
}

Result<Model> read_model(const std::string& path, const relax::MemoryFiles& memory, Location where, Diagnostics& diag) {
  Model model;
  model.path = path;
  RELAXC_TRY(model.file, relax::open_file(memory, path, where, diag));
  std::span<const std::byte> bytes = model.file->bytes();
  if (bytes.empty()) return diag.error(where, Kind::malformed_model, "the file is empty, expected a TFLite model");
  if (!is_tflite(bytes))
    return diag.error(where, Kind::malformed_model, "not a TFLite model: its bytes 4 to 7 are not TFL3{}",
                      bytes.size() < 8 ? "; is it truncated?" : "");
  // Tables are read in place, so the bytes must have the alignment of their numbers; mapped files have it.
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  if (reinterpret_cast<uintptr_t>(data) % sizeof(uint64_t) != 0) {
    model.tables.resize(bytes.size() / sizeof(uint64_t) + 1);
    std::memcpy(model.tables.data(), bytes.data(), bytes.size());
    data = reinterpret_cast<const uint8_t*>(model.tables.data());
  }
  // Tables lie in the first 2 GiB; only buffers lie after that.
  size_t tables = std::min<size_t>(bytes.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
  flatbuffers::Verifier verifier(data, tables, kDeepestTable, kMostTables);
  if (!schema::VerifyModelBuffer(verifier))
    return diag.error(where, Kind::malformed_model,
                      "not a TFLite model: an offset in its tables leads out of the file or to something else; is it "
                      "truncated?");
  RELAXC_DO(Reader(model, *schema::GetModel(data), data, where, diag).run());
  return model;
}

std::string_view type_name(TensorType type) {
  switch (type) {
    case TensorType::FLOAT32:
      return "float32";
    case TensorType::FLOAT16:
      return "float16";
    case TensorType::BFLOAT16:
      return "bfloat16";
    case TensorType::FLOAT64:
      return "float64";
    case TensorType::INT32:
      return "int32";
    case TensorType::INT64:
      return "int64";
    case TensorType::INT16:
      return "int16";
    case TensorType::INT8:
      return "int8";
    case TensorType::INT4:
      return "int4";
    case TensorType::INT2:
      return "int2";
    case TensorType::UINT8:
      return "uint8";
    case TensorType::UINT16:
      return "uint16";
    case TensorType::UINT32:
      return "uint32";
    case TensorType::UINT64:
      return "uint64";
    case TensorType::UINT4:
      return "uint4";
    case TensorType::BOOL:
      return "bool";
    case TensorType::STRING:
      return "string";
    case TensorType::COMPLEX64:
      return "complex64";
    case TensorType::COMPLEX128:
      return "complex128";
    case TensorType::RESOURCE:
      return "resource";
    case TensorType::VARIANT:
      return "variant";
    case TensorType::FLOAT8_E4M3FN:
      return "float8_e4m3fn";
    case TensorType::FLOAT8_E5M2:
      return "float8_e5m2";
  }
  return "an unknown type";
}

Result<DType> dtype_of(TensorType type, Location where, Diagnostics& diag) {
  switch (type) {
    case TensorType::FLOAT32:
      return DType::f(32);
    case TensorType::FLOAT16:
      return DType::f(16);
    case TensorType::FLOAT64:
      return DType::f(64);
    case TensorType::INT32:
      return DType::i(32);
    case TensorType::INT64:
      return DType::i(64);
    case TensorType::INT16:
      return DType::i(16);
    case TensorType::INT8:
    case TensorType::INT4:
      return DType::i(8);
    case TensorType::UINT8:
      return DType::u(8);
    case TensorType::UINT16:
      return DType::u(16);
    case TensorType::UINT32:
      return DType::u(32);
    case TensorType::UINT64:
      return DType::u(64);
    case TensorType::BOOL:
      return DType::boolean();
    default:
      return diag.error(where, Kind::unsupported, "tensors of {} are not supported", type_name(type));
  }
}

std::string operator_name(BuiltinOperator code) {
  std::string_view name = schema::EnumNameBuiltinOperator(code);
  return name.empty() ? "operator " + std::to_string(static_cast<int32_t>(code)) : std::string(name);
}

}  // namespace relaxc::tflite
