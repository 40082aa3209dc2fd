// strings.cpp: StringConcat, StringSplit, StringNormalizer, RegexFullMatch.
//
// Spans make most of them arithmetic on tensors: normalizing removes spans and maps the bytes, splitting makes spans of
// the same bytes. A pattern is compiled to the table of an automaton here, so that a program needs no regex engine.
#include "frontends/onnx/strings.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "frontends/onnx/regex.h"

namespace relaxc::frontend::strings_family {
namespace {

constexpr DType kByte = DType::u(8);

template <typename T>
Value* vector_constant(Node& node, DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return node.builder().constant(relax::ConstantData::inline_bytes(dtype, std::move(shape), std::move(bytes)));
}

Status concat(Node& node) {
  RELAXC_TRY(Strings a, strings_input(node, 0));
  RELAXC_TRY(Strings b, strings_input(node, 1));
  RELAXC_TRY(std::vector<Value*> made, node.call_many("strings.concat", {a.spans, a.bytes, b.spans, b.bytes}));
  set_strings(node, 0, {made[0], made[1]});
  return Done{};
}

Status split(Node& node) {
  RELAXC_TRY(Strings x, strings_input(node, 0));
  std::string text = node.string_attr("delimiter", "");
  Value* delimiter =
      vector_constant(node, kByte, {static_cast<int64_t>(text.size())}, std::vector<uint8_t>(text.begin(), text.end()));
  Attrs most{{"most", node.has_attr("maxsplit") ? node.int_attr("maxsplit", 0) : int64_t{-1}}};
  RELAXC_TRY(std::vector<Value*> made, node.call_many("strings.split", {x.spans, x.bytes, delimiter}, std::move(most)));
  set_strings(node, 0, {made[0], x.bytes});
  return node.set(1, made[1]);
}

Status regex(Node& node) {
  RELAXC_TRY(Strings x, strings_input(node, 0));
  std::string pattern = node.string_attr("pattern", "");
  auto compiled = compile_regex(pattern);
  if (auto* fault = std::get_if<std::string>(&compiled))
    return node.error(Kind::invalid_attribute, "the pattern '{}' cannot be compiled: {}", pattern, *fault);
  const Automaton& automaton = std::get<Automaton>(compiled);
  auto states = static_cast<int64_t>(automaton.accepts.size());
  Value* steps = vector_constant(node, DType::i(32), {states, 256}, automaton.steps);
  Value* accepts = vector_constant(node, DType::boolean(), {states}, automaton.accepts);
  return node.set(0, node.call("strings.match", {x.spans, x.bytes, steps, accepts}));
}

/// Returns the bytes with ASCII letters in upper or lower case; all others stay.
Result<Value*> in_case(Node& node, Value* bytes, bool upper) {
  auto number = [&](int value) { return node.scalar(kByte, value); };
  RELAXC_TRY(Value * behind, node.call("greater_equal", {bytes, number(upper ? 'a' : 'A')}));
  RELAXC_TRY(Value * before, node.call("less_equal", {bytes, number(upper ? 'z' : 'Z')}));
  RELAXC_TRY(Value * letter, node.call("logical_and", {behind, before}));
  RELAXC_TRY(Value * turned, node.call("bitwise_xor", {bytes, number(' ')}));
  return node.call("where", {letter, turned, bytes});
}

/// Returns the spans [count, 2] of strings that are not stopwords; one empty string if none is left.
Result<Value*> without(Node& node, const Strings& x, std::vector<std::string> stopwords, bool sensitive) {
  Strings compared = x;
  if (!sensitive) {
    RELAXC_TRY(compared.bytes, in_case(node, x.bytes, false));
    for (std::string& word : stopwords)
      for (char& c : word)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  RELAXC_TRY(Value * found, find_strings(node, compared, string_table(stopwords)));
  RELAXC_TRY(Value * kept, node.call("less", {found, node.scalar(DType::i(64), 0)}));
  RELAXC_TRY(kept, node.call("nonzero", {kept}));
  Expr count = kept->shape()[1];
  RELAXC_TRY(kept, reshape(node, kept, {count}));
  RELAXC_TRY(Value * spans, node.call("take", {x.spans, kept}, {{"axis", int64_t{0}}}));
  Expr zero = node.index(0), missing = node.simplify(arith::max(zero, node.index(1) - count));
  return node.call("pad", {spans, node.shape({zero, zero, missing, zero})});
}

Status normalize(Node& node) {
  RELAXC_TRY(Strings x, strings_input(node, 0));
  std::string action = node.string_attr("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return node.error(Kind::invalid_attribute, "case_change_action is '{}'; NONE, LOWER and UPPER are possible",
                      action);
  std::vector<Expr> dims = x.dims();
  bool batched = dims.size() == 2;
  if (dims.empty() || dims.size() > 2)
    return node.error(Kind::rank_mismatch, "the input must be [C] or [1, C] strings, found {}",
                      relax::to_string(x.spans->info));
  if (batched) {
    RELAXC_TRY(x.spans, with_shape(node, x.spans, {node.index(1), dims[1], node.index(2)}, "an input of two dims"));
  }
  RELAXC_TRY(x.spans, reshape(node, x.spans, {dims.back(), node.index(2)}));
  std::vector<std::string> stopwords = node.strings_attr("stopwords");
  if (!stopwords.empty()) {
    RELAXC_TRY(x.spans, without(node, x, std::move(stopwords), node.int_attr("is_case_sensitive", 0) != 0));
  }
  if (batched) {
    RELAXC_TRY(x.spans, reshape(node, x.spans, {node.index(1), x.spans->shape()[0], node.index(2)}));
  }
  if (action != "NONE") {
    RELAXC_TRY(x.bytes, in_case(node, x.bytes, action == "UPPER"));
  }
  set_strings(node, 0, x);
  return Done{};
}

constexpr Converter kRows[] = {
    {.name = "StringConcat", .convert = concat},
    {.name = "StringSplit", .convert = split},
    {.name = "StringNormalizer", .convert = normalize, .note = "changes the case of ASCII letters only"},
    {.name = "RegexFullMatch", .convert = regex, .note = "no Unicode properties; up to 4096 states"},
};

}  // namespace
}  // namespace relaxc::frontend::strings_family

namespace relaxc::frontend {

bool is_strings(Node& node, size_t index) {
  const NamedValue* slot = node.has(index) ? node.importer().find(node.proto.input(static_cast<int>(index))) : nullptr;
  return slot != nullptr && strings_in(*slot) != nullptr;
}

Result<Strings> strings_input(Node& node, size_t index) {
  if (!node.has(index)) return node.error(Kind::wrong_arity, "input {} is missing", index);
  const std::string& name = node.proto.input(static_cast<int>(index));
  if (const Strings* strings = strings_in(*node.importer().find(name))) return *strings;
  return node.error(Kind::dtype_mismatch, "input '{}' must be strings", name);
}

void set_strings(Node& node, size_t index, Strings strings) {
  if (node.wants(index))
    node.importer().scope().slots[node.proto.output(static_cast<int>(index))] = strings_slot(strings);
}

// std::string compares as memcmp does: by unsigned bytes.
StringTable string_table(const std::vector<std::string>& list) {
  std::map<std::string, int64_t> places;
  for (const std::string& entry : list) places.try_emplace(entry, static_cast<int64_t>(&entry - list.data()));
  StringTable table;
  for (const auto& [entry, place] : places) {
    table.entries.push_back(entry);
    table.first.push_back(place);
  }
  return table;
}

Result<Value*> find_strings(Node& node, const Strings& strings, const StringTable& table) {
  NamedValue slot = strings_constant(node.builder(), {static_cast<int64_t>(table.entries.size())}, table.entries);
  const Strings& entries = *strings_in(slot);
  return node.call("strings.find", {strings.spans, strings.bytes, entries.spans, entries.bytes});
}

}  // namespace relaxc::frontend

RELAXC_CONVERTERS(strings, kRows)
