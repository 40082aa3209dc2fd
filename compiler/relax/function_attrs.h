// function_attrs.h: the attributes by which the text IR writes fields of a Relax function.
//
// Frontends and passes store what they know in fields of Function. The text IR has one entry of R.func_attr for each
// field that differs from its default, and one table has the functions that print and parse each. Names that are not in
// the table are attributes of other compilers, which are kept. compiler/tir/func_attrs.h is the same for prim funcs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// One field of Function as an attribute of the text IR.
struct FunctionAttr {
  std::string_view name;
  AttrType type;                                       ///< of its values
  std::string_view form;                               ///< the form of its text, for messages
  std::optional<AttrValue> (*print)(const Function&);  ///< nullopt if the field has its default
  bool (*parse)(Function&, const AttrValue& of_type);  ///< false, without a change, if the value has another form
};

/// Returns the table, sorted by name.
std::span<const FunctionAttr> function_attrs();
/// Returns the row called `name`, or null.
const FunctionAttr* find_function_attr(std::string_view name);
/// Sets a field of the table, or else an entry of `attrs`. Returns false, and sets nothing, if the value does not have
/// the form of the row.
bool set_attribute(Function& function, const std::string& name, AttrValue value);
/// Returns every attribute that R.func_attr prints, except bounds of symbols, by name: fields, then `attrs`.
std::map<std::string, AttrValue> attribute_values(const Function& function);

}  // namespace relaxc::relax
