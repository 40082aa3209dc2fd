// names.h: C names for variables and buffers of one function.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_c {

/// Gives every variable and buffer of a function a C identifier of its own, made of its name. Names begin with a letter
/// and are not reserved words; names of the C library that helpers call are taken from the start.
class Names {
 public:
  /// `foreign`: what no name may begin with, since macros and functions of the object do.
  explicit Names(std::vector<std::string> foreign = {});
  /// Has `buffer` be called `text`, which no other name is.
  void call(tir::BufferRef buffer, const std::string& text) { buffers_[buffer->id] = text; }
  /// Keeps `name` for what is declared outside the function.
  void reserve(const std::string& name) { taken_.insert(name); }
  const std::string& of(arith::Expr var);
  const std::string& of(tir::BufferRef buffer);
  /// An unused name for a temporary.
  std::string fresh(const std::string& base);

 private:
  std::map<uint32_t, std::string> vars_, buffers_;
  std::vector<std::string> foreign_;
  std::set<std::string> taken_;
  std::map<std::string, int> next_;
};

}  // namespace relaxc::codegen_c
