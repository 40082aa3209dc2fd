// known_closure.h: what is known of a value that is or holds a function, while closures are resolved.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

struct Known;
using KnownRef = std::shared_ptr<const Known>;

/// A tree whose leaves are values of the rewritten program, none of them functions.
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

/// Returns the form of a tree without its values, by which a specialized function is chosen.
std::string form_of(const Known& known);
/// Appends the values of the tree, in order.
void add_values(const Known& known, std::vector<relax::Value*>& values);
/// Returns the same tree with each value replaced by what `next` returns, in order.
KnownRef with_values(const Known& known, const std::function<relax::Value*(relax::Value*)>& next);

}  // namespace relaxc
