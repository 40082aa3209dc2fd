// attr_text.h: attributes as text: defaults of operator definitions, the text IR, messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/relax/attrs.h"

namespace relaxc::relax {

AttrType attr_type(const AttrValue& value);
/// "an integer", "a list of floats", …
std::string_view attr_type_name(AttrType type);
/// The text IR's spelling: `1`, `0.5`, `True`, `"same"`, `[1, 1]`.
std::string attr_text(const AttrValue& value);
/// Reads an AttrDef's default; empty text is the type's empty value. Text that does not fit is a bug of relaxc.
AttrValue parse_attr(std::string_view text, AttrType type);
/// The same value as another type where nothing is lost: an integer as float or bool, an empty list as any list, one
/// integer as a list.
std::optional<AttrValue> convert_attr(const AttrValue& value, AttrType type);

}  // namespace relaxc::relax
