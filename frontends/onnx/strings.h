// strings.h: what converters of operators on strings share.
#pragma once

#include "frontends/onnx/composite.h"

namespace relaxc::frontend {

/// Whether an input is a tensor of strings.
bool is_strings(Node& node, size_t index);
Result<Strings> strings_input(Node& node, size_t index);
void set_strings(Node& node, size_t index, Strings strings);

/// Strings in ascending order of bytes, each once, and where each of them first was in the list.
struct StringTable {
  std::vector<std::string> entries;
  std::vector<int64_t> first;
};
StringTable string_table(const std::vector<std::string>& list);
/// The position of each string in the table's entries; -1: it is not there.
Result<Value*> find_strings(Node& node, const Strings& strings, const StringTable& table);

}  // namespace relaxc::frontend
