// attributes.h: reads constants, and the attributes of calls and functions.
#pragma once

#include "frontends/relay/text/parts.h"

namespace relaxc::relay {

/// Reads `1f`, `2`, `3i64` or `True`: a tensor without dims.
Expr read_constant(ReaderParts& reader);
/// Reads `meta[relay.Constant][0]`.
Expr read_stored_constant(ReaderParts& reader);
/// Reads a number, a bool, a string, None, or a list, tuple or map of them (of a map only the values).
Expr read_attribute(ReaderParts& reader);
/// Reads an attribute of a call. TVM repeats some operands as attributes, and prints devices as references to the
/// metadata; both are ignored and give None.
Expr read_call_attribute(ReaderParts& reader);
/// Reads `Primitive=1, hash="…"`: notes of TVM's passes, which change no value. Appends to `kept`, as keys and values
/// of a dict, the attributes that offload a function to a library, by their names in Relax.
bool read_function_attributes(ReaderParts& reader, std::vector<Expr>* kept = nullptr);

}  // namespace relaxc::relay
