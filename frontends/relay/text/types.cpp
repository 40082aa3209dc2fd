// types.cpp: the grammar of types: tensors, scalars such as float32, tuples, functions, data types.
#include "frontends/relay/text/types.h"

#include <charconv>

#include "compiler/support/dtype.h"

namespace relaxc::relay {

namespace {

/// Adds the width of 32 bits to a dtype without a width.
std::string full_dtype(const std::string& written) {
  return written == "int" || written == "uint" || written == "float" ? written + "32" : written;
}

/// Reads a number or `?` into `dims`.
bool read_dim(ReaderParts& reader, std::vector<int64_t>& dims) {
  TokenCursor& tokens = reader.tokens;
  const Token token = tokens.take();
  if (token.is("?") || token.is_name("Any")) {
    dims.push_back(Type::kOpenDim);
    return token.is("?") || !tokens.accept("(") || tokens.expect(")", "behind Any(");
  }
  if (token.kind != TokenKind::kNumber) return tokens.unexpected(token, "a dim");
  int64_t extent = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [rest, error] = std::from_chars(token.text.data(), end, extent);
  const bool has_suffix = rest != end && *rest != 'i' && *rest != 'u';
  if (error != std::errc() || has_suffix || extent < 0)
    return tokens.refuse(token.place, Kind::invalid_value, "a dim is an integer of at most 63 bits, found {}",
                         token.text);
  dims.push_back(extent);
  return true;
}

/// Reads `[(1, ?, 4), float32]` after `Tensor`.
Type* read_tensor(ReaderParts& reader) {
  TokenCursor& tokens = reader.tokens;
  if (!tokens.expect("[", "behind Tensor") || !tokens.expect("(", "in front of dims")) return nullptr;
  std::vector<int64_t> dims;
  while (!tokens.peek().is(")")) {
    if (!read_dim(reader, dims)) return nullptr;
    if (!tokens.accept(",")) break;
  }
  if (!tokens.expect(")", "behind dims") || !tokens.expect(",", "behind a shape")) return nullptr;
  const Token written = tokens.take();
  if (written.kind != TokenKind::kName) return tokens.unexpected(written, "a dtype");
  const std::string dtype = full_dtype(written.text);
  if (!parse_dtype(dtype)) return tokens.refuse(written.place, Kind::invalid_value, "'{}' is not a dtype", dtype);
  if (!tokens.expect("]", "behind a dtype")) return nullptr;
  return reader.types.tensor(std::move(dims), dtype);
}

/// Reads `(T, T) -> T` after `fn`.
Type* read_function(ReaderParts& reader, const TypeNames& names) {
  TokenCursor& tokens = reader.tokens;
  if (!tokens.expect("(", "in front of the types of parameters")) return nullptr;
  Type* function = read_parts(reader, ")", names, Type::kFunction, "");
  if (function == nullptr || !tokens.expect("->", "in front of the type of a result")) return nullptr;
  function->parts.push_back(read_type(reader, names));
  return function->parts.back() == nullptr ? nullptr : function;
}

/// Reads the arguments of a data type, `[T, T]`, if there are any.
Type* read_data(ReaderParts& reader, const Token& name, const DataType& data, const TypeNames& names) {
  Type* made = reader.tokens.accept("[") ? read_parts(reader, "]", names, Type::kData, name.text)
                                         : reader.types.compound(Type::kData, {}, name.text);
  if (made != nullptr && made->parts.size() != data.params.size())
    return reader.tokens.refuse(name.place, Kind::wrong_arity, "'{}' takes {} types, found {}", name.text,
                                data.params.size(), made->parts.size());
  return made;
}

}  // namespace

Type* read_parts(ReaderParts& reader, std::string_view close, const TypeNames& names, Type::Kind kind,
                 std::string text) {
  std::vector<Type*> parts;
  while (!reader.tokens.peek().is(close)) {
    parts.push_back(read_type(reader, names));
    if (parts.back() == nullptr) return nullptr;
    if (!reader.tokens.accept(",")) break;
  }
  if (!reader.tokens.expect(close, "behind types")) return nullptr;
  return reader.types.compound(kind, std::move(parts), std::move(text));
}

Type* read_type(ReaderParts& reader, const TypeNames& names) {
  const Token token = reader.tokens.take();
  TokenCursor::Nested nested(reader.tokens, token.place);
  if (!nested) return nullptr;
  if (token.is("(")) return read_parts(reader, ")", names, Type::kTuple, "");
  if (token.kind != TokenKind::kName) return reader.tokens.unexpected(token, "a type such as Tensor[(1, 4), float32]");
  if (token.text == "fn") return read_function(reader, names);
  if (token.text == "Tensor") return read_tensor(reader);
  if (auto known = names.find(token.text); known != names.end()) return known->second;
  if (const DataType* data = reader.definitions.type(token.text)) return read_data(reader, token, *data, names);
  if (token.text == "ref" || token.text == "Ref")
    return reader.tokens.refuse(token.place, Kind::unsupported,
                                "a reference cannot be a parameter or a part of a type");
  const std::string dtype = full_dtype(token.text);
  if (parse_dtype(dtype)) return reader.types.tensor({}, dtype);
  return reader.tokens.refuse(token.place, Kind::unbound_name, "there is no type '{}'", token.text);
}

Type* read_type_at(ReaderParts& reader, size_t at, const TypeNames& names) {
  TokenCursor::Elsewhere there(reader.tokens, at);
  return read_type(reader, names);
}

}  // namespace relaxc::relay
