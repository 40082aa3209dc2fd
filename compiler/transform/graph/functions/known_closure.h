// known_closure.h: what is known of a value that is a function or holds one, while closures are resolved.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

struct Known;
using KnownRef = std::shared_ptr<const Known>;

/// A tree whose leaves are values of the program as it will be: no functions among them.
struct Known {
  enum Kind : uint8_t {
    kPlain,    ///< `value`
    kClosure,  ///< `callee` with `parts` captured
    kChoice,   ///< `parts[0]` if the bool scalar `value` holds, else `parts[1]`
    kTuple,    ///< of `parts`
  };
  Kind kind = kPlain;
  relax::Value* value = nullptr;
  std::string callee;
  std::vector<KnownRef> parts;
};

KnownRef plain(relax::Value* value);
KnownRef known_closure(std::string callee, std::vector<KnownRef> captured);
KnownRef known_choice(relax::Value* condition, KnownRef yes, KnownRef no);
KnownRef known_tuple(std::vector<KnownRef> fields);

/// The form of a tree without its values: what a specialised function is chosen by.
std::string form_of(const Known& known);
/// The values in order.
void add_values(const Known& known, std::vector<relax::Value*>& values);
/// The same tree with other values, asked for in order.
KnownRef with_values(const Known& known, const std::function<relax::Value*(relax::Value*)>& next);

}  // namespace relaxc
