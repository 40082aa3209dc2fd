// dim_pattern.h: says what an unknown name in a dim does: an error, or a new symbol.
//
// Its state is the current mode, whether the dim is in quotes, and the symbols that an R.Callable owns. Each is set for
// the lifetime of a guard object, so nested patterns restore the outer state.
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
    kUse,       ///< an unknown name is an error
    kDeclared,  ///< a declared symbol is bound
    kFresh,     ///< any unknown name becomes a symbol and is bound
  };
  using OwnSymbols = std::map<std::string, arith::Var>;

  Kind kind() const { return kind_; }
  bool fresh() const { return kind_ == kFresh; }
  /// Whether the current dim is in quotes.
  bool quoted() const { return quoted_; }
  /// The symbols of the current R.Callable; null if there is none.
  OwnSymbols* own_symbols() const { return own_symbols_; }
  /// Returns the current R.Callable's symbol of this name, and makes it if there is none. Only within an R.Callable.
  arith::Var own_symbol(arith::Context& context, const std::string& name, DType dtype = DType::index()) {
    auto known = own_symbols_->find(name);
    if (known == own_symbols_->end()) known = own_symbols_->emplace(name, context.var(name, dtype)).first;
    return known->second;
  }
  /// Records that the pattern binds `symbol`.
  void bind(arith::Var symbol) {
    if (binds_ != nullptr) binds_->push_back(symbol);
  }

  /// While it lives, dims are read in mode `kind`; symbols that they bind are appended to `binds`, unless that is null.
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

  /// While it lives, dims are in quotes.
  class Quoted {
   public:
    explicit Quoted(DimPattern& pattern) : pattern_(pattern), quoted_(std::exchange(pattern.quoted_, true)) {}
    Quoted(const Quoted&) = delete;
    ~Quoted() { pattern_.quoted_ = quoted_; }

   private:
    DimPattern& pattern_;
    bool quoted_;
  };

  /// While it lives, the outermost R.Callable is read; `own` receives its symbols.
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
