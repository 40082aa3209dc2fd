// check_program.cpp: the ways to run a program.
//
// The reference is the source after dead_code, since an operation whose result nobody reads need not fail. Where the
// reference ends early the others have to as well, with any code: guards are free to be checked in another order. Only
// where a branch goes whose condition is a constant, what it alone read need not fail.
#include "tests/property/check_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/equivalence/entry_call.h"
#include "compiler/equivalence/random_inputs.h"
#include "compiler/interface/identifiers.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/pipeline/runner.h"
#include "compiler/relax/print.h"
#include "compiler/relax/verify.h"
#include "frontends/relax/parser.h"
#include "tests/onnx/run_allocator.h"
#include "tests/property/objects.h"
#include "tests/property/random.h"
#include "tests/property/sizes.h"

namespace relaxc::property {

using equivalence::HostTensor;
using equivalence::Outcome;

namespace {

/// The passes up to dead_code.
const size_t kReferencePasses = static_cast<size_t>(find_pass("dead_code") - compile_pipeline().data()) + 1;
/// The passes up to the one that takes branches away.
const size_t kFoldingPasses = static_cast<size_t>(find_pass("fold_branches") - compile_pipeline().data()) + 1;
/// From here on text says less than the module: what an operator required is not seen in what has taken its place …
const size_t kExpandingPass = static_cast<size_t>(find_pass("expand_ops") - compile_pipeline().data());
/// … and not at all in a call of its kernel.
const size_t kLegalizingPass = static_cast<size_t>(find_pass("legalize") - compile_pipeline().data());

/// Ends a check.
struct Found {
  Finding finding;
};
[[noreturn]] void fail(std::string where, std::string what) {
  throw Found{{Finding::kFails, std::move(where), std::move(what)}};
}

class Check {
 public:
  Check(const std::string& text, const std::vector<relax::ConstantRef>& constants, const relax::OpTable& ops,
        uint64_t seed, const Checks& checks)
      : text_(text), constants_(constants), ops_(ops), seed_(seed), checks_(checks), random_(seed) {}

  void run() {
    relax::Module module = parse(text_, constants_, "parsing");
    std::string printed = relax::to_string(module);
    relax::Module again = parse(printed, relax::large_constants(module), "parsing what was printed");
    if (std::string twice = relax::to_string(again); twice != printed)
      fail("printing twice", "the second print differs:\n" + twice);
    find_reference();
    if (checks_.prefixes) {
      size_t all = compile_pipeline().size();
      for (size_t length = random_.below(4); length < all; length += 1 + random_.below(5)) prefix(length);
    }
    for (int level : {0, 3}) compiled(level);
    bool calls_out = text_.find("R.print(") != std::string::npos || text_.find("_packed(") != std::string::npos;
    if (checks_.objects && !calls_out)
      for (const char* level : {"0", "3"}) objects(level);
  }

  /// "5 1 1": how many runs there are, how many of them end early, and whether a schedule reordered sums.
  std::string summary() const {
    auto early = std::count_if(cases_.begin(), cases_.end(), [](const Case& c) { return c.expected.index() == 1; });
    return fmt::format("{} {} {}", cases_.size(), early, reordered_ ? 1 : 0);
  }

 private:
  struct Case {
    std::string function;
    uint32_t trial;
    std::vector<HostTensor> inputs;
    Outcome expected;
    std::string effects;                 ///< what external functions were told by then
    std::optional<Outcome> folded = {};  ///< if branches went and it ends early: what is left without them
  };

  relax::Module parse(const std::string& text, const std::vector<relax::ConstantRef>& constants,
                      const std::string& step) {
    Diagnostics diag;
    auto module = frontend::parse_module("random.relax", text, ops_, diag, constants);
    if (!module) fail(step, render(diag));
    if (std::string fault = relax::first_fault(*module); !fault.empty())
      fail(step + " gives an ill-formed module", fault);
    return std::move(*module);
  }

  /// Runs passes up to `stop` (all if empty) on the source.
  relax::Module transformed(std::span<const Pass> passes, int level, const Target& target, interface::Object& object,
                            const std::string& step) {
    relax::Module module = parse(text_, constants_, "parsing");
    Diagnostics diag;
    auto evaluator = tir::make_interpreter();
    PassContext context{ops_, target, diag, *evaluator, level, &object};
    if (!run_passes(passes, module, context, {})) {
      for (const Diagnostic& message : diag.all())
        if (message.kind != Kind::unbounded && message.kind != Kind::unsupported && message.kind != Kind::overflow)
          fail(step + " refuses", render(diag));
      throw Found{{Finding::kRefused, step, render(diag)}};
    }
    object.name = "random";
    interface::assign_identifiers(object);
    return module;
  }

  void find_reference() {
    interface::Object object;
    relax::Module module = transformed(compile_pipeline().first(kReferencePasses), 0, Target{}, object, "dead_code");
    outside_.emplace(module);
    for (const relax::Function* function : module.functions()) {
      if (function->is_private) continue;
      for (uint32_t trial = 0; trial < kTrials; ++trial) {
        auto size = [&](arith::Var symbol) { return size_in_trial(symbol.name(), seed_, trial); };
        Case made{function->name,
                  trial,
                  equivalence::random_inputs(*function, static_cast<uint32_t>(seed_) + trial, size, checks_.exact),
                  {},
                  {}};
        made.expected = equivalence::interpret(module, ops_, *function, made.inputs, externals().function());
        made.effects = externals_->effects();
        cases_.push_back(std::move(made));
      }
    }
    find_folded(branches(module));
  }

  void find_folded(size_t branches_before) {
    std::vector<Pass> passes(compile_pipeline().begin(), compile_pipeline().begin() + kFoldingPasses);
    passes.push_back(*find_pass("dead_code"));
    interface::Object object;
    relax::Module module = transformed(passes, 2, Target{}, object, "fold_branches");
    if (branches(module) >= branches_before) return;
    auto evaluator = interpreter(module);
    for (Case& test : cases_)
      if (test.expected.index() == 1) test.folded = run_in(module, object, test, "fold_branches", *evaluator);
  }

  static size_t branches(const relax::Module& module) {
    std::string text = relax::to_string(module);
    size_t count = 0;
    for (size_t at = text.find(" if "); at != std::string::npos; at = text.find(" if ", at + 1)) ++count;
    return count;
  }

  /// In place of the external functions, which were not called.
  equivalence::Externals& externals() {
    externals_.emplace(*outside_);
    return *externals_;
  }

  void compare(const Case& test, const Outcome& expected, const Outcome& found, const std::string& step) {
    if (expected.index() == 1 && found.index() == 1) return;
    equivalence::Tolerance tolerance = machine_;
    tolerance.any_zero = checks_.exact;  // a maximum in another order may find the other zero
    if (std::string text = equivalence::difference(expected, found, tolerance); !text.empty())
      fail(step, fmt::format("'{}', trial {}: {}", test.function, test.trial, text));
  }

  void compare_to_reference(const Case& test, const Outcome& found, const std::string& step) {
    compare(test, test.folded && found.index() == 0 ? *test.folded : test.expected, found, step);
  }

  const interface::Entry& entry_of(const interface::Object& object, const std::string& name, const std::string& step) {
    for (const interface::Entry& entry : object.entries)
      if (entry.name == name) return entry;
    fail(step, "the function '" + name + "' has no entry");
  }

  Outcome run_in(relax::Module& module, const interface::Object& object, const Case& test, const std::string& step,
                 tir::Evaluator& evaluator) {
    equivalence::Externals& outside = externals();
    const relax::Function* function = module.find_function(test.function);
    Outcome found =
        function != nullptr
            ? equivalence::interpret(module, ops_, *function, test.inputs, outside.function())
            : equivalence::call_entry(module, object, entry_of(object, test.function, step), test.inputs, evaluator);
    // What ends early may have said less or more: guards come first where they can.
    bool same_bits = checks_.exact || !equivalence::reorders(module);
    if (same_bits && found.index() == 0 && test.expected.index() == 0 && externals_->effects() != test.effects)
      fail(step, fmt::format("'{}', trial {}: external functions were told\n{}instead of\n{}", test.function,
                             test.trial, externals_->effects(), test.effects));
    return found;
  }

  /// Outputs whose sizes the data decides may have any capacity: one that is too small is refused, and nothing behind
  /// it is written.
  void run_without_room(const relax::Module& module, const interface::Object& object, const Case& test,
                        const std::string& step, tir::Evaluator& evaluator) {
    const interface::Entry& entry = entry_of(object, test.function, step);
    bool decided = std::any_of(entry.outputs.begin(), entry.outputs.end(),
                               [](const interface::Tensor& output) { return output.data_dependent; });
    if (!decided) return;
    externals();
    for (int64_t capacity : {0, 2})
      equivalence::call_entry(module, object, entry, test.inputs, evaluator, {.capacity = capacity});
  }

  std::unique_ptr<tir::Evaluator> interpreter(const relax::Module& module) {
    return tir::make_interpreter([&](const std::string& name) { return module.find_prim_func(name); }, external());
  }
  tir::CallExternal external() {
    return [this](const std::string& name, std::span<const tir::ExternalArg> args) {
      return externals_->call(name, args);
    };
  }

  void prefix(size_t length) {
    std::string step = "interpreting after " + std::string(compile_pipeline()[length].name);
    interface::Object object;
    Target target = native();
    relax::Module module = transformed(compile_pipeline().first(length + 1), 2, target, object, step);
    if (equivalence::reorders(module) && !checks_.exact) return;
    auto evaluator = interpreter(module);
    compare_all(module, object, *evaluator, length < kReferencePasses ? May::kEndEarly : May::kNothing, step);
    if (length < kLegalizingPass) read_back(module, object, length, step);
  }

  /// How runs may differ from the reference: what is dead there may still fail, what it requires may not be seen.
  enum class May { kNothing, kEndEarly, kRun };
  void compare_all(relax::Module& module, const interface::Object& object, tir::Evaluator& evaluator, May may,
                   const std::string& step) {
    for (const Case& test : cases_) {
      Outcome found = run_in(module, object, test, step, evaluator);
      bool ends = found.index() == 1;
      if (ends != (test.expected.index() == 1) && may == (ends ? May::kEndEarly : May::kRun)) continue;
      compare_to_reference(test, found, step);
    }
  }

  /// What a pass made prints as a program of the same meaning. Its expressions may be in an order that only its own
  /// history explains, so it is the second print that has to be a fixpoint.
  void read_back(const relax::Module& module, const interface::Object& object, size_t length, const std::string& step) {
    std::string printed = relax::to_string(module);
    relax::Module again = parse(printed, relax::large_constants(module), "parsing, " + step);
    std::string second = relax::to_string(again);
    relax::Module third = parse(second, relax::large_constants(again), "parsing again, " + step);
    if (std::string text = relax::to_string(third); text != second)
      fail("printing twice, " + step, "first:\n" + second + "\nthen:\n" + text);
    May may = length < kReferencePasses ? May::kEndEarly : length < kExpandingPass ? May::kNothing : May::kRun;
    compare_all(again, object, *interpreter(again), may, "what is read back, " + step);
  }

  static Target native() {
    Diagnostics diag;
    return *codegen_llvm::resolve_target("", "native", "", diag);
  }

  void compiled(int level) {
    std::string step = fmt::format("interpreting all of -O{}", level);
    interface::Object object;
    Target target = native();
    relax::Module module = transformed(compile_pipeline(), level, target, object, step);
    bool reordered = equivalence::reorders(module);
    reordered_ |= reordered;
    allow_rounding_by_machine(module);
    if (checks_.exact) reordered = false;
    auto evaluator = interpreter(module);
    std::vector<Outcome> found;
    for (const Case& test : cases_) {
      found.push_back(run_in(module, object, test, step, *evaluator));
      if (!reordered || (test.expected.index() == 1) != (found.back().index() == 1))
        compare_to_reference(test, found.back(), step);
      run_without_room(module, object, test, step, *evaluator);
    }
    if (!checks_.jit || needs_allocator(object)) return;  // what runs in process has no runtime to ask for memory
    auto jit = codegen_llvm::make_jit(
        target, [&](const std::string& name) { return module.find_prim_func(name); }, external());
    step = fmt::format("compiling -O{} in process", level);
    for (size_t k = 0; k < cases_.size(); ++k)
      compare(cases_[k], found[k], run_in(module, object, cases_[k], step, *jit), step);
  }

  /// Between the interpreter and the machine, and backends.
  void allow_rounding_by_machine(const relax::Module& module) {
    constexpr double kRounding = 1e-3;
    machine_ = equivalence::rounds_by_machine(module) ? equivalence::tolerance_of(module, kRounding)
                                                      : equivalence::Tolerance();
  }

  /// Without the passes that fold loops and branches, more sizes have no bound.
  static bool needs_allocator(const interface::Object& object) {
    return std::any_of(object.entries.begin(), object.entries.end(),
                       [](const interface::Entry& entry) { return entry.needs_allocator; });
  }

  void objects(const std::string& level) {
    interface::Object object;
    Target target = native();
    relax::Module module = transformed(compile_pipeline(), level == "0" ? 0 : 3, target, object, "compiling");
    allow_rounding_by_machine(module);
    auto evaluator = interpreter(module);
    for (bool by_c : {false, true}) {
      std::string step = fmt::format("an object of -O{} by {}", level, by_c ? "C" : "LLVM");
      std::string fault;
      auto loaded = load_object(object, target, level, by_c, fault);
      if (loaded == nullptr) fail(step, fault);
      onnx_tests::RunAllocator allocator;
      if (needs_allocator(object)) loaded->set_allocator(onnx_tests::RunAllocator::take, &allocator);
      for (const Case& test : cases_) {
        Outcome expected = run_in(module, object, test, step, *evaluator);
        compare(test, expected, run_object(*loaded, test.function, test.inputs), step);
      }
    }
  }

  const std::string& text_;
  const std::vector<relax::ConstantRef>& constants_;
  const relax::OpTable& ops_;
  uint64_t seed_;
  const Checks& checks_;
  Random random_;
  std::optional<equivalence::Externals> outside_, externals_;
  std::vector<Case> cases_;
  bool reordered_ = false;
  equivalence::Tolerance machine_;
};

}  // namespace

Finding check_program(const std::string& text, const std::vector<relax::ConstantRef>& constants,
                      const relax::OpTable& ops, uint64_t seed, const Checks& checks) {
  try {
    Check check(text, constants, ops, seed, checks);
    check.run();
    return {Finding::kHolds, "", check.summary()};
  } catch (const Found& found) {
    return found.finding;
  } catch (const InternalError& error) {
    std::string text = error.what();
    return {Finding::kFails, "internal error at " + text.substr(0, text.find(": ")), text};
  }
}

}  // namespace relaxc::property
