// types.h: reads Relay's types, and writes them as Relax has them.
#pragma once

#include <string>

#include "frontends/relay/text/parts.h"

namespace relaxc::relay {

// types.cpp

/// Reads a type, in which `names` stand for others; null if an error was reported.
Type* read_type(ReaderParts& reader, const TypeNames& names);
/// Reads the type that begins at token `at`.
Type* read_type_at(ReaderParts& reader, size_t at, const TypeNames& names);
/// Reads a list of types up to the bracket `close`, as the parts of a type; null if an error was reported.
Type* read_parts(ReaderParts& reader, std::string_view close, const TypeNames& names, Type::Kind kind,
                 std::string text);

// annotations.cpp

/// What an unknown dim, `?`, becomes: a new symbol, as in parameters, or only the tensor's rank is kept, as in results,
/// of which the function's body tells more.
enum class Unknown : uint8_t { kSymbols, kRank };

/// A type that the text states.
struct Annotation {
  Expr written = nullptr;  ///< as Relax has it; null if an error was reported
  Type* type = nullptr;    ///< a hidden variable in that case
};
/// Reads a type. Symbols are named after `called` and the axis.
Annotation annotation(ReaderParts& reader, Unknown unknown, const std::string& called);
/// Returns what becomes the annotation of a parameter of this type once all types of the function are known.
Expr later_annotation(ReaderParts& reader, Type* type, Place place, const std::string& called,
                      Unknown unknown = Unknown::kSymbols);

}  // namespace relaxc::relay
