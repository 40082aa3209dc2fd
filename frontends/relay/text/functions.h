// functions.h: reads functions, and calls of them.
#pragma once

#include "frontends/relay/text/parts.h"

namespace relaxc::relay {

// functions.cpp

/// Reads a function of the module, whose name is the next token, into one that is named `called`.
void read_global_function(ReaderParts& reader, const FunctionDefinition& definition, const std::string& called,
                          bool is_private);
/// Reads a text without functions: `free_var %x: …;` and an expression, as TVM prints a plain expression.
void read_free_expression(ReaderParts& reader);
/// Reads `fn (%x: T) -> T { … }` into a function of the suite; returns its name.
Expr read_closure(ReaderParts& reader, const std::string& called);
/// Reads an expression in braces: returns its last value, and puts the statements before it into `into`. If `last`, the
/// value is the function's result, and a branch returns it in both sides, so that tail calls stay tail calls.
Expr read_block(ReaderParts& reader, Suite& into, bool last);
/// Emits the return of a function, unless the branch that ends it has returned.
void give(ReaderParts& reader, Expr value);
/// Ends one side of a branch: returns its value if it is the function's result (`last`), or binds it to `result`.
void end_side(ReaderParts& reader, Expr value, bool last, const std::string& result);

// function_values.cpp

/// Reads a constructor that is not called, such as Cons in `@foldr(Cons, %ys, %xs)`: a function of its fields.
Expr constructor_value(ReaderParts& reader, const Token& name);
/// Reads an operator that is not called, such as negative in `@map(negative, %xs)`.
Expr operator_value(ReaderParts& reader, const Token& name);
/// Makes a function of an operator that is given where `wanted`, a function type, is needed; nothing for other values.
void specialize_operator(ReaderParts& reader, Expr value, Type* wanted);

// calls.cpp

/// A function of the module as a value; which instance of it is meant is known when all types are.
Expr read_global(ReaderParts& reader, const Token& token);
/// Reads `(a, b, key=value)` behind a callee.
Expr read_call(ReaderParts& reader, Expr callee);
/// The type of what a call gives, if types are inferred. Reports arguments of wrong types where types decide what a
/// program means. `attributes` is their text.
Type* type_of_call(ReaderParts& reader, Expr callee, const std::vector<Expr>& arguments, const std::string& attributes);
/// Reports a function that takes or gives data, which functions that others call do not; whether it did.
bool refuse_data_of(ReaderParts& reader, const FunctionDefinition& definition, const std::string& called);

}  // namespace relaxc::relay
