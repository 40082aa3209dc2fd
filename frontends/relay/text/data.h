// data.h: reads definitions of data types, and the values that their constructors make.
//
// A value of a data type is what R.adt.construct gives, an int64 scalar (compiler/ops/algebraic.cpp). Its node holds
// tensors: a field that is a tuple is as many as that has parts, one in another. How many, and of which sizes, types
// say; so what is written here is a hole until all types of the function are inferred.
#pragma once

#include "frontends/relay/text/parts.h"

namespace relaxc::relay {

/// Reads `type List[A] { Cons(A, List[A]), Nil, }`, which begins and ends at these tokens.
void read_type_definition(ReaderParts& reader, size_t begin, size_t end);
/// Reads `Cons(%x, Nil)`.
Expr read_construct(ReaderParts& reader);

/// Gives what `made` makes of these fields, whose types fit.
Expr constructed(ReaderParts& reader, const Constructor& made, Type* type, const std::vector<Expr>& fields,
                 Place place);

/// The type of what `made` makes, with variables for the parameters, which `types` receives.
Type* data_type_of(ReaderParts& reader, const Constructor& made, TypeNames& types);
/// The types of the fields; null fields: what was wrong was reported.
std::vector<Type*> fields_of(ReaderParts& reader, const Constructor& made, const TypeNames& types);
/// Gives a field of `value`, which `made` made; the number of its first tensor is known once types are.
Expr data_field(ReaderParts& reader, Expr value, const Constructor& made, const std::vector<Type*>& fields,
                size_t index, Place place);
/// Gives the value of a partial match where no clause fits: reading it ends the run.
Expr no_value(ReaderParts& reader, Type* type, Place place);

}  // namespace relaxc::relay
