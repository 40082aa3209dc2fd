// attr_text.h: prints and parses attributes: defaults of operator definitions, the text IR, messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/relax/attrs.h"

namespace relaxc::relax {

AttrType attr_type(const AttrValue& value);
/// Returns the type's name in messages: "an integer", "a list of floats", …
std::string_view attr_type_name(AttrType type);
/// Returns the value in the syntax of the text IR: `1`, `0.5`, `True`, `"same"`, `[1, 1]`.
std::string attr_text(const AttrValue& value);
/// Parses an AttrDef's default; empty text is the type's empty value. Invalid text is an internal error.
AttrValue parse_attr(std::string_view text, AttrType type);
/// Converts the value to another type if nothing is lost: an integer to a float, a bool or a list of one, an empty list
/// to any list. Otherwise nullopt.
std::optional<AttrValue> convert_attr(const AttrValue& value, AttrType type);

}  // namespace relaxc::relax
