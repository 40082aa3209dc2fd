// names.h: unique names for variables and buffers of one text.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "compiler/arith/print.h"
#include "compiler/tir/buffer.h"

namespace relaxc::tir {

/// Gives every variable and buffer a unique Python identifier, in the order of the queries: `x`, `x_1`, … With
/// `anonymous`, all are called `v`, so that equal programs have equal texts.
class Namer {
 public:
  explicit Namer(bool anonymous = false);
  std::string of(Var var) { return find(var.node(), var.name()); }
  std::string of(BufferRef buffer) { return find(buffer, buffer->name); }
  /// Gives a new name to what is bound again; returns the name before, or empty. `restore` takes that back.
  std::string rebind(Var var) { return rebind(var.node(), var.name()); }
  std::string rebind(BufferRef buffer) { return rebind(buffer, buffer->name); }
  void restore(const void* identity, std::string name) { names_[identity] = std::move(name); }
  /// Returns an unused name similar to `wanted`.
  std::string fresh(const std::string& wanted);
  /// Returns these functions for arith::print.
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
  std::unordered_map<std::string, int> last_suffix_;  ///< where the search for an unused name continues
};

}  // namespace relaxc::tir
