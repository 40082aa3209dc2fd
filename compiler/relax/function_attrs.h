// function_attrs.h: how the text IR spells what frontends and passes know of a Relax function.
//
// They pass on what they know in fields of Function. The text IR has one entry of R.func_attr for each field
// that differs from its default, and one table says how each is printed and parsed. Names that are not in the table are
// attributes of other compilers; they are kept as they are. compiler/tir/func_attrs.h is the same for prim funcs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// One field of Function as an attribute.
struct FunctionAttr {
  std::string_view name;
  AttrType type;                                       ///< of a value that fits
  std::string_view form;                               ///< what it looks like, for messages
  std::optional<AttrValue> (*print)(const Function&);  ///< none: the field has its default and is not printed
  bool (*parse)(Function&, const AttrValue& of_type);  ///< false: it has not that form; the field is unchanged
};

/// All of them, by name.
std::span<const FunctionAttr> function_attrs();
/// The row called `name`, or null.
const FunctionAttr* find_function_attr(std::string_view name);
/// Sets a field of the table, or else an entry of `attrs`. False: the value has not the form of the row; nothing is
/// set.
bool set_attribute(Function& function, const std::string& name, AttrValue value);
/// Everything that R.func_attr prints of a function, bounds of symbols aside, by name: fields, then `attrs`.
std::map<std::string, AttrValue> attribute_values(const Function& function);

}  // namespace relaxc::relax
