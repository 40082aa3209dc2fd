// dim_pattern.h: what names that have no value yet may do where dims are read.
//
// Owns the pattern that is being read, whether it is in quotes, and the symbols that an R.Callable has for itself.
// Each is set for the lifetime of a guard, so that what is read inside of another pattern leaves that as it was.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::frontend {

class DimPattern {
 public:
  enum Kind : uint8_t {
    kUse,       ///< nothing: it is reported
    kDeclared,  ///< a declared symbol is bound
    kFresh,     ///< any unknown name becomes a symbol and is bound
  };
  using OwnSymbols = std::map<std::string, arith::Var>;

  Kind kind() const { return kind_; }
  bool fresh() const { return kind_ == kFresh; }
  /// The dim that is being read is in quotes.
  bool quoted() const { return quoted_; }
  /// Symbols of the R.Callable that is being read; null: none is.
  OwnSymbols* own_symbols() const { return own_symbols_; }
  /// Its symbol of this name, made if it has none; only while one is read.
  arith::Var own_symbol(arith::Context& context, const std::string& name, DType dtype = DType::index()) {
    auto known = own_symbols_->find(name);
    if (known == own_symbols_->end()) known = own_symbols_->emplace(name, context.var(name, dtype)).first;
    return known->second;
  }
  /// Notes that the pattern binds `symbol`.
  void bind(arith::Var symbol) {
    if (binds_ != nullptr) binds_->push_back(symbol);
  }

  /// Dims are read as `kind` says while it lives; symbols that they bind are appended to `binds` (null: to nothing).
  class Reading {
   public:
    Reading(DimPattern& pattern, Kind kind, std::vector<arith::Var>* binds = nullptr)
        : pattern_(pattern), kind_(std::exchange(pattern.kind_, kind)), binds_(std::exchange(pattern.binds_, binds)) {}
    Reading(const Reading&) = delete;
    ~Reading() { pattern_.kind_ = kind_, pattern_.binds_ = binds_; }

   private:
    DimPattern& pattern_;
    Kind kind_;
    std::vector<arith::Var>* binds_;
  };

  /// What is read while it lives is in quotes.
  class Quoted {
   public:
    explicit Quoted(DimPattern& pattern) : pattern_(pattern), quoted_(std::exchange(pattern.quoted_, true)) {}
    Quoted(const Quoted&) = delete;
    ~Quoted() { pattern_.quoted_ = quoted_; }

   private:
    DimPattern& pattern_;
    bool quoted_;
  };

  /// The outermost R.Callable is read while it lives; `own` receives its symbols.
  class Callable {
   public:
    Callable(DimPattern& pattern, OwnSymbols& own) : pattern_(pattern) { pattern_.own_symbols_ = &own; }
    Callable(const Callable&) = delete;
    ~Callable() { pattern_.own_symbols_ = nullptr; }

   private:
    DimPattern& pattern_;
  };

 private:
  Kind kind_ = kUse;
  std::vector<arith::Var>* binds_ = nullptr;
  bool quoted_ = false;
  OwnSymbols* own_symbols_ = nullptr;
};

}  // namespace relaxc::frontend
