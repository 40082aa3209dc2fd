// safetensors.cpp: reads Hugging Face's safetensors: eight bytes of length, a JSON object that gives each tensor's
// name, dtype, shape and place, then the bytes of all tensors without a gap.
//
// The JSON is read in full before any tensor is used. As the format demands, names must be unique, and the tensors must
// cover the rest of the file exactly, so two of them never share bytes.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "frontends/weights/fault.h"
#include "frontends/weights/weights.h"

namespace relaxc::frontend {
namespace {

using Json = nlohmann::json;

/// The same limit as in the format's own library, in bytes.
constexpr uint64_t kLargestHeader = 100'000'000;
constexpr size_t kLengthBytes = 8;
/// The levels are the header, a tensor's entry, and its lists of numbers; limits memory while parsing.
constexpr int kDeepest = 3;
constexpr size_t kMostNumbers = 64;  ///< maximum dims of a tensor

/// Thrown while parsing, for a header that exceeds these limits.
struct Implausible {
  std::string why;
};

struct Name {
  std::string_view name;
  DType dtype;
};
constexpr Name kNames[] = {
    {"BOOL", DType::boolean()},
    {"U8", DType::u(8)},
    {"I8", DType::i(8)},
    {"U16", DType::u(16)},
    {"I16", DType::i(16)},
    {"U32", DType::u(32)},
    {"I32", DType::i(32)},
    {"U64", DType::u(64)},
    {"I64", DType::i(64)},
    {"F16", DType::f(16)},
    {"BF16", DType::bf16()},
    {"F32", DType::f(32)},
    {"F64", DType::f(64)},
    {"F8_E4M3", {TypeCode::kFloat8E4M3FN, 8}},
    {"F8_E5M2", {TypeCode::kFloat8E5M2, 8}},
    {"F8_E4M3FNUZ", {TypeCode::kFloat8E4M3FNUZ, 8}},
    {"F8_E5M2FNUZ", {TypeCode::kFloat8E5M2FNUZ, 8}},
    {"F8_E8M0", {TypeCode::kFloat8E8M0FNU, 8}},
    {"C64", {TypeCode::kComplex, 64}},
};

struct Extent {
  uint64_t begin, end;
  std::string name;
};

class SafetensorsReader {
 public:
  explicit SafetensorsReader(const WeightsFile& source) : source_(source) {}

  Result<NamedConstants> run() {
    RELAXC_TRY(Json header, read_header());
    for (const auto& [name, entry] : header.items())
      if (name != "__metadata__") RELAXC_DO(tensor(name, entry));
    RELAXC_DO(check_cover());
    return constants_;
  }

 private:
  Result<Json> read_header() {
    uint64_t length = 0;
    if (!source_.holds(0, kLengthBytes)) return bad("it is shorter than the length of its header");
    std::memcpy(&length, source_.bytes().data(), kLengthBytes);
    if (length > kLargestHeader)
      return bad("its header would have {} bytes, and {} is the most", length, kLargestHeader);
    if (!source_.holds(kLengthBytes, length)) return bad("its header of {} bytes is cut", length);
    data_ = kLengthBytes + length;
    std::set<std::string> names;
    std::string twice;
    size_t numbers = 0;
    auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
      using Event = Json::parse_event_t;
      if (event == Event::key && depth == 1)
        if (const std::string& name = parsed.get_ref<const std::string&>(); !names.insert(name).second) twice = name;
      bool begins = event == Event::array_start || event == Event::object_start;
      if (begins && depth >= kDeepest) throw Implausible{fmt::format("nests deeper than {} levels", kDeepest)};
      numbers = begins ? 0 : numbers + (event == Event::value && depth == kDeepest ? 1 : 0);
      if (numbers > kMostNumbers) throw Implausible{fmt::format("has a list of more than {} numbers", kMostNumbers)};
      return true;
    };
    Json header;
    try {
      header = Json::parse(source_.text(kLengthBytes, length), watch);
    } catch (const Json::exception&) {
      return bad("its header is not JSON");
    } catch (const Implausible& header) {
      return bad("its header {}", header.why);
    }
    if (!header.is_object()) return bad("its header is not a JSON object");
    if (!twice.empty()) return bad("it holds '{}' twice", twice);
    return header;
  }

  Status tensor(const std::string& name, const Json& entry) {
    const Json *dtype = member(entry, "dtype"), *dims = member(entry, "shape"), *place = member(entry, "data_offsets");
    bool formed = dtype != nullptr && dtype->is_string() && dims != nullptr && dims->is_array() && place != nullptr &&
                  place->is_array() && place->size() == 2 && (*place)[0].is_number_unsigned() &&
                  (*place)[1].is_number_unsigned();
    if (!formed) return bad("'{}' has no dtype, shape and data_offsets", name);
    const std::string& spelling = dtype->get_ref<const std::string&>();
    auto known = std::find_if(std::begin(kNames), std::end(kNames), [&](const Name& n) { return n.name == spelling; });
    if (known == std::end(kNames))
      return source_.error(Kind::unsupported, "'{}' has the dtype {}, which is not known", name, spelling);
    std::vector<int64_t> shape;
    for (const Json& dim : *dims) {
      if (!dim.is_number_unsigned() || dim.get<uint64_t>() > INT64_MAX) return bad("'{}' has an invalid shape", name);
      shape.push_back(dim.get<int64_t>());
    }
    uint64_t begin = (*place)[0].get<uint64_t>(), end = (*place)[1].get<uint64_t>();
    std::optional<uint64_t> size = checked_size(shape, known->dtype);
    if (begin > end || size != end - begin)
      return bad("'{}' has bytes {} to {}, and its shape and dtype have {} bytes", name, begin, end,
                 size ? std::to_string(*size) : "too many");
    if (end > source_.bytes().size() - data_) return bad("it is cut: '{}' ends at byte {}", name, data_ + end);
    extents_.push_back({begin, end, name});
    constants_[name] = relax::ConstantData::file_slice(known->dtype, std::move(shape), source_.file, data_ + begin);
    return Done{};
  }

  Status check_cover() {
    std::sort(extents_.begin(), extents_.end(), [](const Extent& a, const Extent& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    uint64_t at = 0;
    for (const Extent& extent : extents_) {
      if (extent.begin != at)
        return bad("'{}' begins at {} of the data, where {} is expected", extent.name, extent.begin, at);
      at = extent.end;
    }
    uint64_t left = source_.bytes().size() - data_ - at;
    if (left != 0) return bad("{} bytes at its end belong to no tensor", left);
    return Done{};
  }

  static const Json* member(const Json& object, const char* name) {
    if (!object.is_object()) return nullptr;
    auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }

  template <typename... Args>
  Failure bad(fmt::format_string<Args...> why, Args&&... args) {
    return source_.error(Kind::malformed_model, "not a safetensors file: {}",
                         fmt::format(why, std::forward<Args>(args)...));
  }

  const WeightsFile& source_;
  uint64_t data_ = 0;  ///< offset of the tensors' bytes in the file
  std::vector<Extent> extents_;
  NamedConstants constants_;
};

}  // namespace

Result<NamedConstants> read_safetensors(const std::shared_ptr<const relax::MappedFile>& file, Location where,
                                        Diagnostics& diag) {
  WeightsFile source{file, where, diag};
  return SafetensorsReader(source).run();
}

bool has_safetensors_dtype(DType dtype) {
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const Name& name) { return name.dtype == dtype; });
}

std::string safetensors_head(const std::vector<std::pair<std::string, relax::ConstantRef>>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  int64_t at = 0;
  for (const auto& [name, constant] : tensors) {
    auto known = std::find_if(std::begin(kNames), std::end(kNames),
                              [&, dtype = constant->dtype()](const Name& n) { return n.dtype == dtype; });
    RELAXC_CHECK(known != std::end(kNames), "a dtype that safetensors has not");
    int64_t end = at + constant->byte_size();
    header[name] = {{"dtype", std::string(known->name)}, {"shape", constant->shape()}, {"data_offsets", {at, end}}};
    at = end;
  }
  // Pad with blanks so that the data starts at a multiple of eight, for readers that map the file.
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), kLengthBytes) + text;
}

}  // namespace relaxc::frontend
