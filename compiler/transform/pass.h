// pass.h: the type of passes, and the context that they get.
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

/// Properties of a module at a point of the pipeline, which passes need, give and break.
enum Property : uint32_t {
  kNone = 0,
  kTyped = 1 << 0,      ///< every value has a struct info with known dtype, rank and shape expressions
  kLegal = 1 << 1,      ///< operators have become call_tir
  kFused = 1 << 2,      ///< groups of call_tir have become one
  kScheduled = 1 << 3,  ///< loops of kernels are in the target's order
  kLowered = 1 << 4,    ///< Relax functions have become host prim funcs
  kPlanned = 1 << 5,    ///< no global Alloc is left
  kScalarMath = 1 << 6  ///< exp, tanh, … have become arithmetic
};
constexpr Property operator|(Property a, Property b) {
  return static_cast<Property>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}

/// A number that configures a pass and can be set from outside.
struct PassOption {
  std::string_view name;  ///< "fold_constants.budget": the pass and the option
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
  interface::Object* object = nullptr;                       ///< the public interface, which lowering fills in
  std::map<std::string, int64_t, std::less<>> options = {};  ///< those of passes that differ from their defaults
  int64_t option(const PassOption& which) const {
    auto given = options.find(which.name);
    return given == options.end() ? which.fallback : given->second;
  }
  int64_t max_recursion = 1000;      ///< most nested calls of recursive functions (--max-recursion)
  int64_t max_data_nodes = 100'000;  ///< most nodes of algebraic data in one run (--max-data-nodes)
  /// Steps that schedule kernels instead of the strategies, by the kernel's name (--schedules).
  std::map<std::string, TextSpan, std::less<>> traces = {};
  /// Receives for each kernel which strategies were tried and what they answered, if set.
  std::function<void(const std::string& kernel, std::string text)> explain = {};
  /// Subgraphs that external functions compute (--external-patterns); null: none.
  const ExternalPatterns* external_patterns = nullptr;
  /// Receives messages that are neither warnings nor errors, if set.
  std::function<void(const std::string& text)> remark = {};
  /// Receives each kernel before and after it was scheduled, its constants that are packed, and facts about its
  /// symbols, if set.
  std::function<void(const tir::PrimFunc& before, const tir::PrimFunc& after,
                     const std::vector<schedule::PackedParam>& packed, const arith::Facts& facts)>
      scheduled = {};
  std::vector<interface::Pool> pools = {};  ///< memories beside the arena with their sizes (--pool)
};

/// A pass: a function that changes a module. Its file, its name here, its flag and its test folder have the same name.
struct Pass {
  std::string_view name;
  Result<Changed> (*run)(relax::Module&, PassContext&) = nullptr;
  Property needs = kNone;
  Property gives = kNone;
  Property breaks = kNone;
  int opt_level = 0;  ///< runs at this -O level and above
  std::span<const PassOption> options = {};
  /// Passes that the runner runs, in this order, after this one changed something. No pass calls another, so that each
  /// has its line in --time-passes, and --disable-pass turns it off everywhere.
  std::span<const std::string_view> cleanups = {};
};

}  // namespace relaxc
