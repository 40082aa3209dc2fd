// func_attrs.h: the attributes by which the text IR writes fields of a prim func.
//
// Passes store what they know in fields of PrimFunc. The text IR has one entry of T.func_attr for each field that
// differs from its default, and one table has the functions that print and parse each. Names that are not in the table
// are attributes of other compilers; they are kept as they are.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// One field of PrimFunc as an attribute of the text IR.
struct FuncAttr {
  std::string_view name;
  std::string_view form;                                 ///< the form of its text, for messages
  std::optional<std::string> (*print)(const PrimFunc&);  ///< nullopt if the field has its default
  bool (*parse)(PrimFunc&, std::string_view text);       ///< false, without a change, if `text` has another form
};

/// Returns the table, sorted by name.
std::span<const FuncAttr> func_attrs();
/// Returns the row called `name`, or null.
const FuncAttr* find_func_attr(std::string_view name);
/// Returns the text of every attribute that T.func_attr prints, by name: fields, then `attrs`.
std::map<std::string, std::string> attribute_texts(const PrimFunc& function);
/// Returns the error in fields that name parameters ("'arena' is parameter 3, …"); empty if there is none.
std::string fault_of_attributes(const PrimFunc& function);

}  // namespace relaxc::tir
