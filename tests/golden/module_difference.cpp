// module_difference.cpp: random inputs, two runs, one comparison. Inputs are seeded by the function's name: a failure
// repeats.
#include "tests/golden/module_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/equivalence/entry_call.h"
#include "compiler/equivalence/prepared.h"
#include "compiler/equivalence/random_inputs.h"
#include "compiler/equivalence/stored.h"

namespace relaxc::test {

using namespace equivalence;

namespace {

/// Two orders of a float32 sum of N terms differ by at most 2 N 2^-24 of the sum of their magnitudes; the largest sums
/// of the golden programs have 1024 terms, of magnitudes that their results have as well.
constexpr double kReordered = 2 * 1024 * 0x1p-24;

uint32_t seed_of(const std::string& name, uint32_t trial) {
  for (char c : name) trial = trial * 31 + static_cast<unsigned char>(c);
  return trial;
}

using Run = std::function<Outcome(const std::vector<HostTensor>&, const tir::CallExternal&)>;

/// Empty: `module` has neither a Relax function nor an entry of that name.
Run plain_runner(relax::Module& module, const interface::Object& object, const relax::OpTable& ops,
                 const std::string& name) {
  StoredInterface border = stored_interface(module, object, name);
  if (const relax::Function* function = module.find_function(name))
    return [&module, &ops, function, border](const auto& inputs, const auto& external) {
      return as_floats(border, interpret(module, ops, *function, stored(border, inputs), external));
    };
  auto entry = std::find_if(object.entries.begin(), object.entries.end(),
                            [&](const interface::Entry& candidate) { return candidate.name == name; });
  if (entry == object.entries.end()) return {};
  return [&module, &object, &entry = *entry, border](const auto& inputs, const auto& external) {
    auto find = [&](const std::string& callee) { return module.find_prim_func(callee); };
    return as_floats(border,
                     call_entry(module, object, entry, stored(border, inputs), *tir::make_interpreter(find, external)));
  };
}

/// The same for inputs called `names`, also where some of them are prepared by a function of their own.
Run runner(relax::Module& module, const interface::Object& object, const relax::OpTable& ops, const std::string& name,
           const std::vector<std::string>& names) {
  if (!plain_runner(module, object, ops, name)) return {};
  return [&module, &object, &ops, name, names](const auto& inputs, const tir::CallExternal& external) {
    return run_prepared(module, object, name, names, inputs, [&](const std::string& callee, const auto& given) {
      return plain_runner(module, object, ops, callee)(given, external);
    });
  };
}

std::string compare(const Run& a, const Run& b, const std::vector<HostTensor>& inputs, const relax::Module& program,
                    const equivalence::Tolerance& tolerance) {
  Externals for_a(program), for_b(program);
  Outcome first = a(inputs, for_a.function()), second = b(inputs, for_b.function());
  if (std::string text = difference(first, second, tolerance); !text.empty()) return text;
  if (tolerance.relative > 0 || for_a.effects() == for_b.effects()) return {};
  return fmt::format("the calls made for their effect are\n{}and\n{}", for_a.effects(), for_b.effects());
}

}  // namespace

std::string difference_of_modules(relax::Module& a, relax::Module& b, const relax::OpTable& ops,
                                  const interface::Object& object, uint32_t trials) {
  const std::set<std::string> known = external_callees(a), now = external_callees(b);
  if (!std::includes(known.begin(), known.end(), now.begin(), now.end())) return {};
  const equivalence::Tolerance tolerance = equivalence::tolerance_of(b, kReordered);
  for (const relax::Function* function : a.functions()) {
    if (function->is_private) continue;
    const std::vector<std::string> names = input_names(a, {}, function->name);
    const interface::Object none;
    Run first = runner(a, none, ops, function->name, names), second = runner(b, object, ops, function->name, names);
    if (!second) return fmt::format("the public function '{}' is gone", function->name);
    for (uint32_t trial = 0; trial < trials; ++trial) {
      std::vector<HostTensor> inputs = random_inputs(*function, seed_of(function->name, trial));
      std::string text = compare(first, second, inputs, a, tolerance);
      if (!text.empty()) return fmt::format("'{}', trial {}: {}", function->name, trial, text);
    }
  }
  return {};
}

}  // namespace relaxc::test
