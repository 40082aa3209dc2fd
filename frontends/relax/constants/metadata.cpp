// metadata.cpp: reads the constants that TVM prints beside a module (`script(show_meta=True)`).
//
// TVM writes a graph of objects as JSON: a list of nodes that refer to each other by number. Two versions of it are
// read. Up to 0.20 the root is "root", a node is {"type_key", "attrs" | "keys" | "data"}, numbers are written as
// strings, and tensors are separate in "b64ndarrays". After it the root is "root_index", a node is {"type", "data"}, a
// map is a list of key, value, key, value …, and a tensor is a node like others. The bytes of a tensor are the same in
// both: base64 of TVM's format for parameter files.
//
// Only the path root, map, array, constant, tensor is followed, or root, map, array, tensor for the tensors of
// attributes, which only the newer version has. The types of constants, which are in the JSON too, repeat those of the
// tensors.
#include "frontends/relax/constants/metadata.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "frontends/relax/constants/ndarray.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {
namespace {

using AstKind = ast::ExprKind;
using Json = nlohmann::json;

/// Returns whether `value` is the type name of constants in Relax or Relay, which keys the root map and marks nodes.
bool names_constants(const Json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text == "relax.expr.Constant" || text == "relay.Constant";
}

class MetadataReader {
 public:
  MetadataReader(SourceText& source, Place place, Json document)
      : source_(source), place_(place), document_(std::move(document)) {}

  Result<Metadata> run() {
    nodes_ = member(document_, "nodes");
    if (nodes_ == nullptr || !nodes_->is_array()) return refuse("it has no list \"nodes\"");
    named_root_ = document_.contains("root_index");
    RELAXC_TRY(const Json* root, node(member(document_, named_root_ ? "root_index" : "root"), "the root"));
    Metadata found;
    RELAXC_TRY(std::vector<const Json*> constants, listed(*root, names_constants, "constant"));
    for (const Json* made : constants) {
      RELAXC_TRY(relax::ConstantRef data, constant(*made, found.constants.size()));
      found.constants.push_back(std::move(data));
    }
    if (!named_root_) return found;
    auto is_tensor = [](const Json& key) {
      return key.is_string() && names_tensors(key.get_ref<const std::string&>());
    };
    RELAXC_TRY(std::vector<const Json*> tensors, listed(*root, is_tensor, "tensor"));
    for (const Json* made : tensors) {
      RELAXC_TRY(relax::ConstantRef data, tensor(member(*made, "data"), "tensor", found.tensors.size()));
      found.tensors.push_back(std::move(data));
    }
    return found;
  }

 private:
  template <typename... Args>
  Failure refuse(fmt::format_string<Args...> why, Args&&... args) {
    return source_.error(place_, Kind::malformed_model, "not the metadata of a module: {}",
                         fmt::format(why, std::forward<Args>(args)...));
  }

  static const Json* member(const Json& object, const char* name) {
    if (!object.is_object()) return nullptr;
    auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }

  /// Returns a number, which may be in a string; nullopt for anything else.
  static std::optional<size_t> number(const Json* value) {
    if (value == nullptr) return std::nullopt;
    if (value->is_number_unsigned()) return value->get<size_t>();
    if (!value->is_string()) return std::nullopt;
    const std::string& text = value->get_ref<const std::string&>();
    size_t parsed = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return parsed;
  }

  Result<const Json*> node(const Json* index, std::string_view what) {
    std::optional<size_t> at = number(index);
    if (!at || *at >= nodes_->size()) return refuse("{} is not one of its {} nodes", what, nodes_->size());
    return &(*nodes_)[*at];
  }

  /// Returns the nodes that the root map lists under a key for which `wanted` holds, each of them a `what`.
  template <typename Wanted>
  Result<std::vector<const Json*>> listed(const Json& root, const Wanted& wanted, std::string_view what) {
    std::vector<const Json*> nodes;
    RELAXC_TRY(const Json* list, list_of(root, wanted, what));
    if (list == nullptr) return nodes;
    const Json* items = member(*list, "data");
    if (items == nullptr || !items->is_array()) return refuse("its {}s are not a list", what);
    for (const Json& item : *items) {
      RELAXC_TRY(const Json* made, node(&item, fmt::format("a {}", what)));
      nodes.push_back(made);
    }
    return nodes;
  }

  /// Returns the list under a key of the root map for which `wanted` holds; null if there is none. Reports malformed
  /// maps.
  template <typename Wanted>
  Result<const Json*> list_of(const Json& root, const Wanted& wanted, std::string_view what) {
    const Json* data = member(root, "data");
    const Json* keys = named_root_ ? data : member(root, "keys");
    if (data == nullptr && keys == nullptr) return static_cast<const Json*>(nullptr);  // an empty map
    if (data == nullptr || keys == nullptr || !data->is_array() || !keys->is_array())
      return refuse("its root is not a map");
    size_t step = named_root_ ? 2 : 1;
    if (keys->size() != data->size() || data->size() % step != 0) return refuse("its root has a key without a value");
    for (size_t i = 0; i < keys->size(); i += step) {
      const Json* key = &(*keys)[i];
      if (named_root_) {
        RELAXC_TRY(const Json* text, node(key, "a key"));
        key = member(*text, "data");
      }
      if (key != nullptr && wanted(*key)) return node(&(*data)[i + step - 1], fmt::format("the list of {}s", what));
    }
    return static_cast<const Json*>(nullptr);
  }

  Result<relax::ConstantRef> constant(const Json& made, size_t index) {
    const Json* type = member(made, named_root_ ? "type" : "type_key");
    const Json* fields = member(made, named_root_ ? "data" : "attrs");
    if (type == nullptr || !names_constants(*type) || fields == nullptr)
      return refuse("the node of constant {} does not exist", index);
    const Json* data = member(*fields, "data");
    const Json* text = nullptr;
    if (named_root_) {
      RELAXC_TRY(const Json* holder, node(data, fmt::format("the tensor of constant {}", index)));
      text = member(*holder, "data");
    } else {
      const Json* arrays = member(document_, "b64ndarrays");
      std::optional<size_t> at = number(data);
      if (arrays != nullptr && arrays->is_array() && at && *at < arrays->size()) text = &(*arrays)[*at];
    }
    return tensor(text, "constant", index);
  }

  /// Reads the bytes of the `what` with this index.
  Result<relax::ConstantRef> tensor(const Json* text, std::string_view what, size_t index) {
    if (text == nullptr || !text->is_string()) return refuse("the data of {} {} is missing", what, index);
    NdarrayFormat age = named_root_ ? NdarrayFormat::kDlpack1 : NdarrayFormat::kBefore;
    NdarrayResult read = read_ndarray(text->get_ref<const std::string&>(), age);
    if (!read.fault.empty()) return refuse("the data of {} {} {}", what, index, read.fault);
    return read.data;
  }

  SourceText& source_;
  Place place_;
  Json document_;
  const Json* nodes_ = nullptr;
  bool named_root_ = false;  ///< whether the file has root_index, as newer versions of TVM write it
};

/// Returns a dict of the text as JSON; nullopt if a part of it has no JSON form. The grammar bounds the depth.
std::optional<Json> json_of(const ast::Expr& e) {
  if (e.is(AstKind::kString)) return Json(e.text);
  if (e.is(AstKind::kNone)) return Json(nullptr);
  if (e.is(AstKind::kTrue) || e.is(AstKind::kFalse)) return Json(e.is(AstKind::kTrue));
  if (e.is(AstKind::kInt)) return Json::parse(e.text, nullptr, false);
  if (e.is_sequence()) {
    Json list = Json::array();
    for (const ast::Expr* item : e.items) {
      std::optional<Json> value = json_of(*item);
      if (!value) return std::nullopt;
      list.push_back(std::move(*value));
    }
    return list;
  }
  if (!e.is(AstKind::kDict)) return std::nullopt;
  Json dict = Json::object();
  for (size_t i = 0; i + 1 < e.items.size(); i += 2) {
    std::optional<Json> value = json_of(*e.items[i + 1]);
    if (!e.items[i]->is(AstKind::kString) || !value) return std::nullopt;
    dict[e.items[i]->text] = std::move(*value);
  }
  return dict;
}

Result<Metadata> read_json(SourceText& source, Place place, std::string_view text) {
  try {
    return MetadataReader(source, place, Json::parse(text)).run();
  } catch (const Json::parse_error& error) {
    return source.error(place, Kind::malformed_model,
                        "not the metadata of a module: the JSON ends or is wrong at its byte {}", error.byte);
  }
}

}  // namespace

bool names_tensors(std::string_view key) {
  return key == "ffi.Tensor" || key == "ffi.NDArray" || key == "runtime.NDArray";
}

Result<Metadata> read_metadata(SourceText& source, const ast::Expr& argument) {
  if (argument.is(AstKind::kString)) return read_json(source, argument.place, argument.text);
  std::optional<Json> document = json_of(argument);
  if (!document)
    return source.error(argument.place, Kind::malformed_model,
                        "expected the metadata's JSON as a string or a dict, found {}", describe(argument));
  return MetadataReader(source, argument.place, std::move(*document)).run();
}

Result<Metadata> read_metadata(SourceText& source, Place place) {
  return read_json(source, {place.begin, 1}, std::string_view(source.text()).substr(place.begin, place.length));
}

}  // namespace relaxc::frontend
