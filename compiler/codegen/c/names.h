// names.h: C names for the variables and buffers of one function.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_c {

/// Gives every variable and buffer of a function a unique C identifier that is made of its name, begins with a letter
/// and is no reserved word. Names of the C library that helpers call are taken from the start.
class Names {
 public:
  /// `foreign`: prefixes that no name may begin with, since macros and functions of the object have them.
  explicit Names(std::vector<std::string> foreign = {});
  /// Sets the name of `buffer` to `text`, which the caller knows to be unique.
  void call(tir::BufferRef buffer, const std::string& text) { buffers_[buffer->id] = text; }
  /// Reserves `name`, which is declared outside of the function.
  void reserve(const std::string& name) { taken_.insert(name); }
  const std::string& of(arith::Expr var);
  const std::string& of(tir::BufferRef buffer);
  /// Returns an unused name, made of `base`, for a temporary.
  std::string fresh(const std::string& base);

 private:
  std::map<uint32_t, std::string> vars_, buffers_;
  std::vector<std::string> foreign_;
  std::set<std::string> taken_;
  std::map<std::string, int> next_;
};

}  // namespace relaxc::codegen_c
