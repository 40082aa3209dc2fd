// attributes.cpp: constants and attributes.
#include "frontends/relay/text/attributes.h"

#include "compiler/support/dtype.h"

namespace relaxc::relay {

using ast::ExprKind;

namespace {

/// The dtype that a number's suffix says: 1f, 2i64, 1.5f16; without one, float32 or int32.
std::string dtype_of(const std::string& number) {
  const bool is_special = number.find("inf") != std::string::npos || number.find("nan") != std::string::npos;
  const bool is_real = number.find_first_of(".eE") != std::string::npos;
  const size_t suffix = is_special ? number.rfind('f') : number.find_last_of("fiu");
  const char kind = suffix != std::string::npos ? number[suffix] : is_real ? 'f' : 'i';
  std::string width = suffix == std::string::npos ? "" : number.substr(suffix + 1);
  if (width.empty()) width = "32";
  return (kind == 'f' ? "float" : kind == 'i' ? "int" : "uint") + width;
}

/// Makes a number as Python writes it, without the suffix for the dtype.
Expr make_number(TreeBuilder& tree, const Token& token) {
  const bool negative = token.text.starts_with('-');
  const std::string digits = token.text.substr(negative ? 1 : 0);
  Expr value = nullptr;
  if (digits.starts_with("inf") || digits.starts_with("nan")) {
    Expr text = tree.string(token.place, digits.substr(0, 3));
    value = tree.make(ExprKind::kCall, token.place, {tree.name(token.place, "float"), text});
  } else {
    const size_t suffix = digits.find_first_of("fiu");
    const bool real = digits.find_first_of(".eEf") != std::string::npos;
    value = tree.make(real ? ExprKind::kFloat : ExprKind::kInt, token.place, {}, digits.substr(0, suffix));
  }
  return negative ? tree.make(ExprKind::kUnary, token.place, {value}, "-") : value;
}

/// Reads a list after its bracket.
Expr read_list(ReaderParts& reader, const Token& open) {
  TokenCursor& tokens = reader.tokens;
  TokenCursor::Nested nested(tokens, open.place);
  if (!nested) return nullptr;
  const std::string_view close = open.is("[") ? "]" : open.is("(") ? ")" : "}";
  std::vector<Expr> items;
  while (!tokens.peek().is(close)) {
    Expr item = read_attribute(reader);
    if (item != nullptr && open.is("{") && tokens.accept(":")) item = read_attribute(reader);
    if (item == nullptr) return nullptr;
    items.push_back(item);
    if (!tokens.accept(",")) break;
  }
  const Place whole = join(open.place, tokens.peek().place);
  if (!tokens.expect(close, "behind a list")) return nullptr;
  return reader.tree.make(ExprKind::kList, whole, std::move(items));
}

}  // namespace

Expr read_constant(ReaderParts& reader) {
  const Token token = reader.tokens.take();
  const bool is_bool = token.kind == TokenKind::kName;
  const std::string dtype = is_bool ? "bool" : dtype_of(token.text);
  if (!parse_dtype(dtype)) return reader.tokens.refuse(token.place, Kind::invalid_value, "'{}' is not a dtype", dtype);
  Expr value = is_bool ? reader.tree.make(token.text == "True" ? ExprKind::kTrue : ExprKind::kFalse, token.place)
                       : make_number(reader.tree, token);
  Expr made = reader.tree.relax_call(token.place, "const", {value, reader.tree.string(token.place, dtype)});
  return reader.values.set(made, reader.types.tensor({}, dtype));
}

Expr read_stored_constant(ReaderParts& reader) {
  const Token token = reader.tokens.take();
  if (token.text != "relay.Constant")
    return reader.tokens.refuse(token.place, Kind::unsupported,
                                "of the metadata only relay.Constant is a value, found meta[{}]", token.text);
  TreeBuilder& tree = reader.tree;
  Expr key = tree.string(token.place, token.text);
  Expr list = tree.subscript(token.place, tree.name(token.place, "metadata"), key);
  return tree.subscript(token.place, list, tree.integer(token.place, token.number));
}

Expr read_call_attribute(ReaderParts& reader) {
  const TokenKind kind = reader.tokens.peek().kind;
  const bool repeated = kind == TokenKind::kMeta || kind == TokenKind::kLocal || kind == TokenKind::kGraph;
  return repeated ? reader.tree.make(ExprKind::kNone, reader.tokens.take().place) : read_attribute(reader);
}

Expr read_attribute(ReaderParts& reader) {
  const Token token = reader.tokens.take();
  TreeBuilder& tree = reader.tree;
  if (token.kind == TokenKind::kNumber) return make_number(tree, token);
  if (token.kind == TokenKind::kString) return tree.string(token.place, token.text);
  if (token.is_name("True")) return tree.make(ExprKind::kTrue, token.place);
  if (token.is_name("False")) return tree.make(ExprKind::kFalse, token.place);
  if (token.is_name("None") || token.is_name("nullptr")) return tree.make(ExprKind::kNone, token.place);
  if (token.is("[") || token.is("(") || token.is("{")) return read_list(reader, token);
  return reader.tokens.unexpected(token, "a number, a string, None or a list");
}

bool read_function_attributes(ReaderParts& reader, std::vector<Expr>* kept) {
  TokenCursor& tokens = reader.tokens;
  while (tokens.peek().kind == TokenKind::kName && tokens.peek(1).is("=")) {
    const Token key = tokens.take();
    tokens.take();
    if (tokens.peek().kind == TokenKind::kMeta) {
      tokens.take();
    } else {
      Expr value = read_attribute(reader);
      if (value == nullptr) return false;
      if (kept != nullptr && (key.text == "Compiler" || key.text == "Composite"))
        kept->insert(kept->end(),
                     {reader.tree.string(key.place, key.text == "Compiler" ? "Codegen" : key.text), value});
    }
    if (!tokens.accept(",")) break;
  }
  return true;
}

}  // namespace relaxc::relay
