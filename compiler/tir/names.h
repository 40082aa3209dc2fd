// names.h: names that are unique in one text.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "compiler/arith/print.h"
#include "compiler/tir/buffer.h"

namespace relaxc::tir {

/// Gives every variable and buffer a name of its own, in the order in which they are asked for: `x`, `x_1`, … Names
/// become Python identifiers. An anonymous one calls all `v`, so that equal programs get equal texts.
class Namer {
 public:
  explicit Namer(bool anonymous = false);
  std::string of(Var var) { return find(var.node(), var.name()); }
  std::string of(BufferRef buffer) { return find(buffer, buffer->name); }
  /// A new name for what is bound again; what it was called before, empty if nothing. `restore` takes that.
  std::string rebind(Var var) { return rebind(var.node(), var.name()); }
  std::string rebind(BufferRef buffer) { return rebind(buffer, buffer->name); }
  void restore(const void* identity, std::string name) { names_[identity] = std::move(name); }
  /// A name that nothing else has, close to `wanted`.
  std::string fresh(const std::string& wanted);
  /// For arith::print.
  arith::Names names() {
    return {[this](Var var) { return of(var); }, [this](const Buffer* buffer) { return of(buffer); },
            [this] { return fresh("t"); }};
  }

 private:
  std::string find(const void* identity, const std::string& wanted);
  std::string rebind(const void* identity, const std::string& wanted);

  bool anonymous_;
  std::unordered_map<const void*, std::string> names_;
  std::set<std::string> used_;
  std::unordered_map<std::string, int> last_suffix_;  ///< where the search for a free name goes on
};

}  // namespace relaxc::tir
