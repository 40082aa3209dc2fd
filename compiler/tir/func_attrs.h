// func_attrs.h: how the text IR spells what passes know of a prim func.
//
// Passes pass on what they know in fields of PrimFunc. The text IR has one entry of T.func_attr for each field
// that differs from its default, and one table says how each is printed and parsed. Names that are not in the table are
// attributes of other compilers; they are kept as they are.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// One field of PrimFunc as an attribute.
struct FuncAttr {
  std::string_view name;
  std::string_view form;                                 ///< what its text looks like, for messages
  std::optional<std::string> (*print)(const PrimFunc&);  ///< none: the field has its default and is not printed
  bool (*parse)(PrimFunc&, std::string_view text);       ///< false: the text has not that form; the field is unchanged
};

/// All of them, by name.
std::span<const FuncAttr> func_attrs();
/// The row called `name`, or null.
const FuncAttr* find_func_attr(std::string_view name);
/// Everything that T.func_attr prints of a function, by name: fields, then `attrs`.
std::map<std::string, std::string> attribute_texts(const PrimFunc& function);
/// What is wrong with fields that name parameters ("'arena' is parameter 3, …"); empty: nothing.
std::string fault_of_attributes(const PrimFunc& function);

}  // namespace relaxc::tir
