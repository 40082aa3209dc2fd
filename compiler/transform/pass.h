// pass.h: what a pass is, and what it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "compiler/interface/object.h"
#include "compiler/relax/op_def.h"
#include "compiler/support/result.h"
#include "compiler/tir/evaluator.h"
#include "targets/target.h"

namespace relaxc::schedule {
struct PackedParam;
}

namespace relaxc {

struct ExternalPatterns;

enum class Changed : bool { kNo, kYes };
inline Changed operator|(Changed a, Changed b) {
  return a == Changed::kYes ? a : b;
}
inline Changed& operator|=(Changed& a, Changed b) {
  return a = a | b;
}

/// What holds of a module at some point of the pipeline; passes need, give and break these.
enum Property : uint32_t {
  kNone = 0,
  kTyped = 1 << 0,      ///< every value has a struct info with known dtype, rank and shape expressions
  kLegal = 1 << 1,      ///< operators have become call_tir
  kFused = 1 << 2,      ///< groups of call_tir have become one
  kScheduled = 1 << 3,  ///< kernels have their loops in the target's order
  kLowered = 1 << 4,    ///< Relax functions have become host prim funcs
  kPlanned = 1 << 5,    ///< no global Alloc is left
  kScalarMath = 1 << 6  ///< exp, tanh, … have become arithmetic
};
constexpr Property operator|(Property a, Property b) {
  return static_cast<Property>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}

/// A number of a pass that can be set from outside.
struct PassOption {
  std::string_view name;  ///< "fold_constants.budget": the pass, and what of it
  int64_t fallback = 0, least = 0;
  std::string_view doc;
};

/// What passes share. Held by the pipeline runner; passes keep no state of their own between runs.
struct PassContext {
  const relax::OpTable& ops;
  const Target& target;
  Diagnostics& diag;
  tir::Evaluator& evaluator;  ///< runs definitions for folding
  int opt_level = 2;
  interface::Object* object = nullptr;                       ///< what the outside sees; filled in by lowering
  std::map<std::string, int64_t, std::less<>> options = {};  ///< of passes, where they are not the default
  int64_t option(const PassOption& which) const {
    auto given = options.find(which.name);
    return given == options.end() ? which.fallback : given->second;
  }
  int64_t max_recursion = 1000;  ///< most calls of recursive functions that have not ended (--max-recursion)
  /// Steps that schedule kernels instead of the strategies, by the kernel's name (--schedules).
  std::map<std::string, TextSpan, std::less<>> traces = {};
  /// Receives for each kernel which strategies were asked and what they answered; empty: not wanted.
  std::function<void(const std::string& kernel, std::string text)> explain = {};
  /// Subgraphs that external functions compute (--external-patterns); null: none.
  const ExternalPatterns* external_patterns = nullptr;
  /// Receives what is neither a warning nor an error; empty: not wanted.
  std::function<void(const std::string& text)> remark = {};
  /// Receives each kernel before and after it was scheduled, the constants that it takes packed, and what is known of
  /// its symbols; empty: not wanted.
  std::function<void(const tir::PrimFunc& before, const tir::PrimFunc& after,
                     const std::vector<schedule::PackedParam>& packed, const arith::Facts& facts)>
      scheduled = {};
  std::vector<interface::Pool> pools = {};  ///< memories beside the arena, and how large each is (--pool)
};

/// A pass: a function of the module. Its file, its name here, its flag and its test folder all have one name.
struct Pass {
  std::string_view name;
  Result<Changed> (*run)(relax::Module&, PassContext&) = nullptr;
  Property needs = kNone;
  Property gives = kNone;
  Property breaks = kNone;
  int opt_level = 0;  ///< runs at this -O level and above
  std::span<const PassOption> options = {};
  /// Passes of the pipeline that the runner runs, in this order, after this one changed something. No pass calls
  /// another: so each has its line in --time-passes, and --disable-pass turns it off wherever it would run.
  std::span<const std::string_view> cleanups = {};
};

}  // namespace relaxc
