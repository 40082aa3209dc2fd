// outcome.cpp: compares runs, and replaces external functions.
#include "compiler/equivalence/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/schedule/trace/trace.h"
#include "compiler/support/status_code.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::equivalence {
namespace {

double largest(const HostTensor& t) {
  double most = 0;
  for (size_t at = 0; at < t.bytes.size(); at += static_cast<size_t>(t.dtype.bytes()))
    if (double x = std::abs(relax::decode_scalar(t.dtype, t.bytes.data() + at)); std::isfinite(x))
      most = std::max(most, x);
  return most;
}

std::string difference(const HostTensor& a, const HostTensor& b, size_t output, const Tolerance& tolerance) {
  if (a.dtype != b.dtype) return fmt::format("output {} is {} and {}", output, to_string(a.dtype), to_string(b.dtype));
  if (a.shape != b.shape)
    return fmt::format("output {} has shape [{}] and [{}]", output, fmt::join(a.shape, ", "), fmt::join(b.shape, ", "));
  auto size = static_cast<size_t>(a.dtype.bytes());
  const bool near = a.dtype.is_float() && tolerance.relative > 0;
  double allowed = near ? tolerance.relative * largest(a) + tolerance.absolute : 0;
  for (size_t at = 0; at < a.bytes.size(); at += size) {
    if (std::memcmp(a.bytes.data() + at, b.bytes.data() + at, size) == 0) continue;
    double x = relax::decode_scalar(a.dtype, a.bytes.data() + at),
           y = relax::decode_scalar(b.dtype, b.bytes.data() + at);
    if (a.dtype.is_float() && std::isnan(x) && std::isnan(y)) continue;
    if (tolerance.any_zero && x == 0 && y == 0) continue;
    if (near && std::abs(x - y) <= allowed) continue;
    return fmt::format("element {} of output {} ({}) is {} and {}", at / size, output, to_string(a.dtype), x, y);
  }
  return {};
}

/// Whether two codes count as equal. The compiler is free to choose which guard of types, shapes and sizes fails first,
/// and a guard on a size that depends on data may report kDataBound instead.
bool same_code(int32_t a, int32_t b) {
  auto of_shapes = [](int32_t code) {
    return (code >= kDtype && code <= kDimBounds) || code == kSizeOverflow || code == kBroadcast || code == kDataBound;
  };
  return a == b || (of_shapes(a) && of_shapes(b));
}

}  // namespace

std::string difference(const Outcome& a, const Outcome& b, const Tolerance& tolerance) {
  const auto *fault_a = std::get_if<relax::RunFault>(&a), *fault_b = std::get_if<relax::RunFault>(&b);
  if (fault_a != nullptr && fault_b != nullptr)
    return same_code(fault_a->status.code, fault_b->status.code)
               ? ""
               : fmt::format("one ends with code {}, the other with {}", fault_a->status.code, fault_b->status.code);
  auto why = [](const relax::RunFault& fault) { return fmt::format("{} (code {})", fault.text, fault.status.code); };
  if (fault_a != nullptr) return "only the first ends early: " + why(*fault_a);
  if (fault_b != nullptr) return "only the second ends early: " + why(*fault_b);
  const auto &x = std::get<0>(a), &y = std::get<0>(b);
  if (x.size() != y.size()) return fmt::format("{} outputs and {}", x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i)
    if (std::string text = difference(x[i], y[i], i, tolerance); !text.empty()) return text;
  return {};
}

bool reorders(const relax::Module& module) {
  for (const relax::Function* function : module.functions())
    if (function->rounding) return true;
  for (const tir::PrimFunc* function : module.prim_funcs()) {
    if (function->rounding || schedule::changes_bits(function->schedule.steps)) return true;
  }
  return false;
}

bool rounds_by_machine(const relax::Module& module) {
  for (const tir::PrimFunc* function : module.prim_funcs())
    if (schedule::rounds_by_machine(function->schedule.steps)) return true;
  return false;
}

Tolerance tolerance_of(const relax::Module& module, double reordered) {
  if (!reorders(module)) return {};
  // Let u be half the distance from 1 to the next number of the dtype. Both factors are off by u, and so is a sum of
  // products at most; the constant allows for several such operations in sequence.
  constexpr double kSteps = 16;
  auto rounding = [&](std::optional<DType> dtype) {
    if (!dtype) return reordered;
    return std::max(reordered, kSteps * (*dtype == DType::f(16) ? 0x1p-11 : 0x1p-8));
  };
  double most = reordered;
  for (const relax::Function* function : module.functions())
    if (function->rounding) most = std::max(most, rounding(function->rounding->narrowed));
  for (const tir::PrimFunc* function : module.prim_funcs())
    if (function->rounding) most = std::max(most, rounding(function->rounding->narrowed));
  constexpr double kFlushed = 0x1p-100;
  return {most, rounds_by_machine(module) ? kFlushed : 0};
}

Externals::Externals(const relax::Module& program) {
  effectful_.insert(tir::runtime_name(tir::RuntimeFunction::kPrint));
  for (const relax::Function* function : program.functions())
    for (const relax::Op* op : relax::ops_of(function->body(), true))
      if (op->kind == relax::OpKind::kCallExternal && op->results.empty()) effectful_.insert(op->callee);
}

std::set<std::string> external_callees(const relax::Module& module) {
  std::set<std::string> names;
  for (const relax::Function* function : module.functions())
    for (const relax::Op* op : relax::ops_of(function->body(), true))
      if (op->kind == relax::OpKind::kCallExternal) names.insert(op->callee);
  return names;
}

/// Returns an element in hexadecimal, as an external function received it. All NaNs count as equal.
static std::string element_text(DType dtype, const uint8_t* element) {
  if (dtype.is_float() && std::isnan(relax::decode_scalar(dtype, reinterpret_cast<const std::byte*>(element))))
    return "nan";
  std::string text;
  for (int64_t i = 0; i < dtype.bytes(); ++i) text += fmt::format("{:02x}", element[i]);
  return text;
}

int32_t Externals::call(const std::string& name, std::span<const tir::ExternalArg> args) {
  auto elements_of = [](const tir::ExternalArg& arg) {
    int64_t elements = 1;
    for (int64_t dim : arg.shape) elements *= dim;
    return arg.data == nullptr ? 0 : elements;
  };
  if (effectful_.count(name) != 0) {
    effects_ += name;
    for (const tir::ExternalArg& arg : args) {
      effects_ += fmt::format(" {}:", arg.scalar);
      const auto* bytes = static_cast<const uint8_t*>(arg.data);
      for (int64_t i = 0; i < elements_of(arg); ++i, bytes += arg.dtype.bytes())
        effects_ += element_text(arg.dtype, bytes);
    }
    effects_ += "\n";
    return 0;
  }
  if (args.empty()) return 0;
  tir::ExternalArg out = args.back();
  if (tir::ExternalResult* made = out.result; made != nullptr) {
    // All dims are 2. A handle has nonzero bytes, by which it differs from a null handle.
    std::fill(made->shape.begin(), made->shape.end(), 2);
    out = {nullptr, made->dtype, made->shape, 0};
    bool handle = made->dtype == DType::handle();
    size_t elements = size_t{1} << made->shape.size();
    made->bytes.assign(elements * static_cast<size_t>(made->dtype.bytes()), handle ? std::byte{1} : std::byte{});
    if (handle) return 0;
    out.data = made->bytes.data();
  }
  if (out.data == nullptr) return 0;
  auto* at = static_cast<std::byte*>(out.data);
  for (int64_t i = 0; i < elements_of(out); ++i) {
    double number = out.dtype.is_float() ? 0.25 * static_cast<double>(i % 7) + static_cast<double>(name.size()) : 2;
    std::vector<std::byte> bytes = relax::encode_scalar(out.dtype, number);
    std::memcpy(at + static_cast<size_t>(i) * bytes.size(), bytes.data(), bytes.size());
  }
  return 0;
}

bool gave_up(const Outcome& outcome) {
  const auto* fault = std::get_if<relax::RunFault>(&outcome);
  return fault != nullptr && fault->status.code == relax::kGivenUp;
}

Outcome interpret(relax::Module& module, const relax::OpTable& ops, const relax::Function& function,
                  const std::vector<HostTensor>& inputs, const tir::CallExternal& external) {
  auto evaluator =
      tir::make_interpreter([&](const std::string& name) { return module.find_prim_func(name); }, external);
  return relax::interpret(module, ops, function, inputs, *evaluator, external);
}

}  // namespace relaxc::equivalence
