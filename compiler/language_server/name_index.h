// name_index.h: the names of a text program: where they are defined, what they mean, and which one is meant at a place.
//
// Two sources complement each other. The tree of the grammar has every name that is written as a target or parameter,
// also in a function whose errors keep it from being read. The readers know the types, and the symbols that dims
// declare (frontends/relax/shared/bindings.h).
//
// A use means the latest definition before it in the innermost function around it that defines the name; the text is
// read in that order. The definition of an assignment begins after its value, so `x = R.add(x, x)` reads the older x.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/relax/op_def.h"
#include "frontends/relax/text/ast.h"
#include "frontends/relax/text/lexer.h"

namespace relaxc::language_server {

using frontend::Place;

struct Definition {
  enum Kind : uint8_t { kModule, kFunction, kPrimFunc, kParameter, kVariable, kSymbol };
  Kind kind = kVariable;
  std::string name;
  Place place;                ///< of the name
  uint32_t visible_from = 0;  ///< the first byte at which a use may mean it
  int32_t function = -1;      ///< index in functions() of the function that defines it; -1: the module
  std::string type;           ///< in the syntax of the text IR; empty if unknown
};

/// A function or class, with what is in it.
struct FunctionExtent {
  Place range;            ///< from its first decorator to its last statement
  uint32_t end = 0;       ///< where the next one of its level begins
  int32_t outer = -1;     ///< index of the function or class around it
  size_t definition = 0;  ///< index in definitions()
  std::string signature;  ///< its `def` line, which may have several lines
};

/// What is written at a place: `cls.main` or `R.nn.relu` up to the end of the part at the place, or a name in quotes.
struct Mention {
  std::vector<std::string> parts;  ///< empty if there is no name
  size_t part = 0;                 ///< index of the part at the place
  Place place;                     ///< of that part
  std::string path() const;        ///< all parts, with dots
};

class NameIndex {
 public:
  /// Reads the program. Its errors are not reported; others do that.
  NameIndex(const std::string& path, const std::string& text, const relax::OpTable& ops);

  const std::vector<Definition>& definitions() const { return definitions_; }
  const std::vector<FunctionExtent>& functions() const { return functions_; }

  /// Returns the name at a byte, or right before it.
  Mention mention_at(size_t byte) const;
  /// Returns what a name means there; null if nothing defines it.
  const Definition* meaning(const Mention& mention) const;
  /// Returns the definitions that a name at a byte could mean, one for each name.
  std::vector<const Definition*> visible_at(size_t byte) const;
  /// Returns the function of a definition; null if it defines none.
  const FunctionExtent* function_of(const Definition& definition) const;

 private:
  class Walk;

  const Definition* find(const std::string& name, uint32_t byte) const;
  int32_t function_at(uint32_t byte) const;
  void add_types(const relax::OpTable& ops, const std::string& path);
  void note(Place place, const std::string& name, const std::string& type);
  bool is_module(const std::string& name) const;

  const std::string& text_;
  std::vector<Definition> definitions_;
  std::vector<FunctionExtent> functions_;
  std::vector<frontend::Token> tokens_;
  std::unordered_map<uint32_t, size_t> by_place_;                 ///< definitions by the first byte of their names
  std::unordered_map<std::string, std::vector<size_t>> by_name_;  ///< and by name
};

}  // namespace relaxc::language_server
