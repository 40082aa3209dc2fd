// random_module.cpp: parameters, statements, results.
#include "tests/property/random_module.h"

#include <algorithm>

#include "compiler/arith/simplify.h"
#include "compiler/relax/callable.h"
#include "tests/property/random_function.h"
#include "tests/property/sizes.h"

namespace relaxc::property {

using arith::Var;
using relax::TensorInfo;

bool RandomFunction::is_tensor(const Value& value) {
  const auto* tensor = value.info->as<TensorInfo>();
  return tensor != nullptr && tensor->shape && tensor->dtype;
}

std::optional<int64_t> RandomFunction::size(Expr e) const {
  for (Var var : arith::free_vars(e))
    if (sizes_.count(var) == 0) return std::nullopt;
  return arith::evaluate(e, [&](Var var) { return sizes_.at(var); });
}

std::optional<int64_t> RandomFunction::elements(const Value& value) const {
  int64_t count = 1;
  for (Expr dim : value.shape()) {
    std::optional<int64_t> known = size(dim);
    if (!known || *known < 0 || *known > 100000 || count > 100000) return std::nullopt;
    count *= *known;
  }
  return count;
}

int64_t RandomFunction::most_elements(const Value& value) const {
  int64_t most = 0;
  for (uint32_t trial = 1; trial < kTrials; ++trial) {
    int64_t count = 1;
    for (Expr dim : value.shape()) {
      std::optional<int64_t> known = arith::evaluate(dim, [&](Var var) {
        bool of_inputs = var.name() == "n" || var.name() == "m" || var.name() == "k";
        return of_inputs ? size_in_trial(var.name(), seed_, trial) : sizes_.at(var);
      });
      count = std::clamp<int64_t>(known.value_or(INT32_MAX), 0, INT32_MAX) * std::min<int64_t>(count, INT32_MAX);
    }
    most = std::max(most, count);
  }
  return most;
}

/// Names that passes use themselves are among them.
std::string RandomFunction::name_of(size_t number) {
  static const std::vector<std::string> kTaken = {"fused", "fused_add", "out",   "arena",  "x",
                                                  "n",     "y0",        "shape", "weights"};
  return random_.chance(15) ? random_.of(kTaken) : "v" + std::to_string(number);
}

void RandomFunction::add(Value* value) {
  if (value->name.empty()) value->name = name();
  scope_.push_back(value);
}

void RandomFunction::make() {
  region_ = &function_.body();
  diag_.emplace();
  parameters();
  new_block(random_.chance(50));
  statements(3 + random_.below(12));
  results();
}

void RandomFunction::make_exact() {
  exact_ = true;
  region_ = &function_.body();
  diag_.emplace();
  parameters();
  new_block(true);
  size_t growing = 1 + random_.below(2), added = random_.below(3);
  for (size_t count = 4 + random_.below(5); count > 0; --count) exact_operation(growing, added);
  results();
}

void RandomFunction::parameters() {
  std::vector<Var> symbols;
  for (const char* symbol : {"n", "m", "k"}) {
    symbols.push_back(context().var(symbol));
    sizes_[symbols.back()] = size_in_trial(symbol, seed_, 0);
  }
  auto tensor = [&]() -> Info {
    std::vector<Expr> dims;
    for (size_t rank = random_.chance(8) ? 0 : 1 + random_.below(3); rank > 0; --rank) {
      Expr symbol = symbols[random_.below(symbols.size())];
      bool known = std::find(function_.symbols.begin(), function_.symbols.end(), symbol) != function_.symbols.end();
      if (random_.chance(exact_ ? 60 : 30))
        dims.push_back(context().index(exact_ ? random_.of({16, 33, 64, 5, 8}) : random_.of({1, 2, 3, 4, 8, 0, 16})));
      else
        dims.push_back(known && random_.chance(15) ? symbol * random_.between(2, 3) : symbol);
      for (Var var : arith::free_vars(dims.back()))
        if (std::find(function_.symbols.begin(), function_.symbols.end(), var) == function_.symbols.end()) {
          function_.symbols.push_back(var);
          function_.facts.bound(var, arith::Range::at_least(0));
        }
    }
    return relax::tensor_info(context(), std::move(dims), exact_ ? DType::f(32) : random_dtype(random_));
  };
  for (size_t k = 0, count = 1 + random_.below(4); k < count; ++k) {
    std::string param = "p" + std::to_string(k);
    Info info = nullptr;
    if (exact_) {
      info = tensor();
    } else if (random_.chance(8)) {
      Var own = context().var(param);
      sizes_[own] = size_in_trial(param, seed_, 0);
      function_.symbols.push_back(own);
      info = relax::prim_info(context(), DType::index(), own);
    } else if (random_.chance(8)) {
      info = relax::tensor_info(context(), std::vector<Expr>{}, DType::boolean());
    } else {
      info = random_.chance(10) ? relax::tuple_info(context(), {tensor(), tensor()}) : tensor();
    }
    scope_.push_back(function_.make_argument(region_, param, info));
  }
}

void RandomFunction::statements(size_t count) {
  ++depth_;
  for (; count > 0; --count) {
    if (depth_ == 1 && random_.chance(10)) new_block(random_.chance(50));
    statement();
  }
  --depth_;
}

void RandomFunction::statement() {
  size_t kind = random_.below(100);
  if (kind < 5 && depth_ < 3) return branch();
  if (kind < 9 && depth_ < 3) return loop();
  if (kind < 15) return call_prim_func();
  if (kind < 19) return call_function();
  if (kind < 23) return cast();
  if (kind < 27) return tuple();
  if (kind < 32 && calls_) return call_closure();
  if (kind < 34 && calls_) return call_inplace();
  if (kind < 36 && outside_) return call_external();
  if (kind < 39 && outside_) return effect();
  operation();
}

/// The last values, so that little is dead, and sometimes a parameter or the same value twice.
void RandomFunction::results() {
  std::erase_if(scope_, [&](Value* value) { return !function_.is_private && relax::holds_callable(value->info); });
  size_t count = 1 + random_.below(3);
  for (size_t k = 0; k < count; ++k) {
    size_t back = random_.chance(85) ? random_.below(std::min<size_t>(scope_.size(), 5)) : random_.below(scope_.size());
    region_->yield->add_operand(scope_[scope_.size() - 1 - back]);
  }
}

relax::Module random_exact_module(uint64_t seed, const relax::OpTable& ops) {
  Random random(seed);
  relax::Module module;
  module.name = "Module";
  RandomFunction(module, ops, random, *module.add_function("main"), seed).make_exact();
  return module;
}

relax::Module random_module(uint64_t seed, const relax::OpTable& ops) {
  Random random(seed);
  relax::Module module;
  module.name = "Module";
  size_t helpers = random.chance(40) ? 1 + random.below(2) : 0;
  for (size_t k = 0; k <= helpers; ++k) {
    bool last = k == helpers;
    relax::Function* function =
        module.add_function(last ? "main" : module.unique_name(random.of({"helper", "fused", "fused_add"})));
    function->is_private = !last && random.chance(70);
    RandomFunction(module, ops, random, *function, seed).make();
  }
  return module;
}

}  // namespace relaxc::property
