// tables.cpp: prints the definitions of an object's tables as C. Texts are literals where something points to them.
#include "compiler/codegen/c/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/interface/c_type.h"

namespace relaxc::codegen_c {
namespace {

using interface::Definition;
using interface::FieldKind;

/// One character of a literal between two of `quote`. An octal escape ends after three digits, so the next character
/// cannot join it.
std::string escaped(char c, char quote) {
  auto byte = static_cast<unsigned char>(c);
  bool plain = byte >= 0x20 && byte < 0x7f && c != quote && c != '\\' && c != '?';
  return plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned>(byte));
}

/// A string literal; for more characters than C99 guarantees in one (5.2.4.1), an array of characters.
std::string quoted(const std::string& text) {
  constexpr size_t kLongest = 4095;
  std::string out;
  if (text.size() <= kLongest) {
    for (char c : text) out += escaped(c, '"');
    return "\"" + out + "\"";
  }
  for (char c : text) out += "'" + escaped(c, '\'') + "', ";
  return "(const char[]){" + out + "'\\0'}";
}

const char* type_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::kU8:
      return "uint8_t";
    case FieldKind::kU16:
      return "uint16_t";
    case FieldKind::kI32:
      return "int32_t";
    case FieldKind::kU32:
      return "uint32_t";
    case FieldKind::kI64:
      return "int64_t";
    case FieldKind::kU64:
      return "uint64_t";
    case FieldKind::kPointer:
      return "const void*";
  }
  RELAXC_UNREACHABLE();
}

std::string number(FieldKind kind, int64_t value) {
  if (kind == FieldKind::kPointer) {
    RELAXC_CHECK(value == 0, "a number in place of a pointer");
    return "NULL";
  }
  if (kind == FieldKind::kU64)
    return value == -1 ? "UINT64_MAX" : fmt::format("UINT64_C({})", static_cast<uint64_t>(value));
  if (kind != FieldKind::kI64) return fmt::to_string(value);
  return value == INT64_MIN ? "INT64_MIN" : value == INT64_MAX ? "INT64_MAX" : fmt::format("INT64_C({})", value);
}

/// The texts `f` of all values, with commas between them.
template <typename T, typename F>
std::string joined(const std::vector<T>& values, F f) {
  std::string out;
  for (const T& value : values) out += (out.empty() ? "" : ", ") + f(value);
  return out;
}

class TablePrinter {
 public:
  TablePrinter(const interface::Object& object, const std::vector<Definition>& definitions,
               const EntryFunctionPrinter& printer)
      : object_(object), definitions_(definitions), printer_(printer) {}

  std::string run() {
    std::vector<size_t> waiting;  // tables that are filled after all are declared
    for (size_t i = 0; i < definitions_.size(); ++i) {
      if (definitions_[i].refers_beyond(i)) {
        out_ += head(definitions_[i]) + ";\n";
        waiting.push_back(i);
      } else {
        define(definitions_[i]);
      }
    }
    for (size_t i : waiting) define(definitions_[i]);
    return std::move(out_) + "\n";
  }

 private:
  void define(const Definition& definition) {
    std::visit([&](const auto& what) { print(definition, what); }, definition.what);
  }
  void print(const Definition&, const interface::Text&) {}
  void print(const Definition& definition, const interface::Numbers& numbers) {
    add(definition, joined(numbers.values, [&](int64_t value) { return number(numbers.kind, value); }));
  }
  void print(const Definition& definition, const interface::Floats& floats) {
    add(definition, joined(floats.values, [](float value) { return interface::float_literal(value); }));
  }
  void print(const Definition& definition, const interface::Addresses& addresses) {
    std::string lines;
    for (interface::Address at : addresses.values) lines += "\n    " + address(at) + ",";
    add(definition, lines + "\n");
  }
  void print(const Definition& definition, const interface::Records& records) {
    if (!records.is_array) return add(definition, row(records.record, records.rows.front()));
    std::string lines;
    for (const auto& fields : records.rows) lines += "\n    {" + row(records.record, fields) + "},";
    add(definition, lines + "\n");
  }
  void print(const Definition& definition, const interface::TableFunction& made) {
    EntryFunctionPrinter printer = printer_;
    for (const auto& [name, at] : made.data) printer.style.data[name] = address(at);
    tir::PrimFunc function = made.function;
    function.name = name_of(definition);
    out_ += printer.print(function);
  }

  void add(const Definition& definition, const std::string& content) {
    out_ += fmt::format("{} = {{{}}};\n", head(definition), content);
  }

  std::string head(const Definition& definition) const {
    const std::string name = name_of(definition);
    auto array = [&](const std::string& type, size_t size) {
      return fmt::format("static const {} {}[{}]", type, name, size);
    };
    if (const auto* numbers = std::get_if<interface::Numbers>(&definition.what))
      return array(type_of(numbers->kind), numbers->values.size());
    if (const auto* floats = std::get_if<interface::Floats>(&definition.what))
      return array("float", floats->values.size());
    if (const auto* addresses = std::get_if<interface::Addresses>(&definition.what))
      return array("char* const", addresses->values.size());
    const auto& records = std::get<interface::Records>(definition.what);
    const std::string type(interface::record_name(records.record));
    if (records.is_array) return array(type, records.rows.size());
    return fmt::format("{}const {} {}", is_model(definition) ? "" : "static ", type, name);
  }

  std::string row(interface::Record record, const std::vector<interface::Constant>& fields) const {
    std::string out;
    for (size_t i = 0; i < fields.size(); ++i)
      out += (i == 0 ? "" : ", ") + field(interface::fields(record)[i].kind, fields[i]);
    return out;
  }

  std::string field(FieldKind kind, const interface::Constant& value) const {
    if (const auto* at = std::get_if<interface::Address>(&value)) return address(*at);
    if (const auto* size = std::get_if<interface::SizeOf>(&value))
      return fmt::format("sizeof({})", interface::record_name(size->record));
    return number(kind, std::get<int64_t>(value));
  }

  std::string address(interface::Address at) const {
    const Definition& definition = definitions_[at.definition];
    if (const auto* text = std::get_if<interface::Text>(&definition.what)) return quoted(text->text);
    const auto* records = std::get_if<interface::Records>(&definition.what);
    const std::string name = name_of(definition);
    if (records != nullptr && !records->is_array) return "&" + name;
    return at.element != 0 ? fmt::format("&{}[{}]", name, at.element) : name;
  }

  static bool is_model(const Definition& definition) {
    return definition.entry == Definition::kOfObject && definition.name == "model";
  }

  /// The C name of a definition. The model's is the one that programs use.
  std::string name_of(const Definition& definition) const {
    if (is_model(definition)) return object_.name + "_model";
    std::string name = definition.name;
    std::replace(name.begin(), name.end(), '.', '_');
    return definition.entry == Definition::kOfObject ? "rlx_" + name
                                                     : fmt::format("rlx_e{}_{}", definition.entry, name);
  }

  const interface::Object& object_;
  const std::vector<Definition>& definitions_;
  const EntryFunctionPrinter& printer_;
  std::string out_;
};

}  // namespace

std::string tables_text(const interface::Object& object, const std::vector<Definition>& definitions,
                        const EntryFunctionPrinter& printer) {
  return TablePrinter(object, definitions, printer).run();
}

}  // namespace relaxc::codegen_c
