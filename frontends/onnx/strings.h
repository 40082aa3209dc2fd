// strings.h: shared by converters of operators on strings.
#pragma once

#include "frontends/onnx/composite.h"

namespace relaxc::frontend {

/// Returns whether an input is a tensor of strings.
bool is_strings(Node& node, size_t index);
Result<Strings> strings_input(Node& node, size_t index);
void set_strings(Node& node, size_t index, Strings strings);

/// The distinct strings of a list in ascending order of bytes, and the first position of each in the list.
struct StringTable {
  std::vector<std::string> entries;
  std::vector<int64_t> first;
};
StringTable string_table(const std::vector<std::string>& list);
/// Returns the index of each string in the table's entries; -1 if it is not in there.
Result<Value*> find_strings(Node& node, const Strings& strings, const StringTable& table);

}  // namespace relaxc::frontend
