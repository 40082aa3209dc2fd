#include "tests/unit/lower/harness.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "compiler/ops/op_table.h"
#include "compiler/pipeline/runner.h"
#include "compiler/tir/print.h"
#include "compiler/transform/passes.h"
#include "frontends/relax/parser.h"

namespace relaxc::test {
namespace {

constexpr Pass kPasses[] = {
    {.name = "adopt_casts", .run = adopt_casts},
    {.name = "infer", .run = infer},
    {.name = "dead_code", .run = dead_code},
    {.name = "loop_recursion", .run = loop_recursion},
    {.name = "expand_ops", .run = expand_ops},
    {.name = "legalize", .run = legalize},
    {.name = "fuse_ops", .run = fuse_ops},
    {.name = "hoist_scratch", .run = hoist_scratch},
    {.name = "lower_functions", .run = lower_functions},
    {.name = "plan_memory", .run = plan_memory},
};

constexpr size_t kCanary = 64;
constexpr std::byte kCanaryByte{0xA5};

int64_t count(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (int64_t dim : shape) product *= dim;
  return product;
}

/// Memory at a multiple of 64 with canaries on both sides.
class Arena {
 public:
  explicit Arena(size_t bytes) : bytes_(bytes), memory_(bytes + 3 * kCanary, kCanaryByte) {
    auto address = reinterpret_cast<uintptr_t>(memory_.data()) + kCanary;
    begin_ = reinterpret_cast<std::byte*>((address + kCanary - 1) / kCanary * kCanary);
  }
  void* data() { return begin_; }
  bool intact() const {
    auto same = [](std::byte b) { return b == kCanaryByte; };
    return std::all_of(begin_ - kCanary, begin_, same) && std::all_of(begin_ + bytes_, begin_ + bytes_ + kCanary, same);
  }

 private:
  size_t bytes_;
  std::vector<std::byte> memory_;
  std::byte* begin_;
};

/// One call of an entry, as runtime-lite makes it.
class Call {
 public:
  Call(const relax::Module& module, const interface::Object& object, const interface::Entry& entry,
       const tir::CallExternal& external)
      : module_(module),
        object_(object),
        entry_(entry),
        run_(tir::make_interpreter(
            [&](const std::string& name) -> const tir::PrimFunc* { return module_.find_prim_func(name); }, external)) {}

  Outcome run(std::vector<HostTensor> inputs, std::optional<int64_t> capacity, bool in_place) {
    std::vector<void*> in;
    for (HostTensor& input : inputs) in.push_back(input.bytes.data());
    solve(inputs, in);
    if (code_ != 0) return {code_, {}};
    std::vector<int64_t> dims(num_dims());
    std::vector<void*> to{dims.data()};
    if (!ask(entry_.shapes, to, symbols_)) return {code_, {}};
    size_t at = 0;
    for (const HostTensor& input : inputs)
      for (int64_t dim : input.shape)
        if (dims[at++] != dim) return {8, {}};
    std::vector<int64_t> out_dims(dims.begin() + static_cast<std::ptrdiff_t>(at), dims.end());
    std::vector<HostTensor> outputs = make_outputs(out_dims, capacity);
    std::vector<void*> buffers = in;
    for (size_t i = 0; i < outputs.size(); ++i) {
      bool shared = in_place && entry_.outputs[i].pair >= 0;
      buffers.push_back(shared ? in[static_cast<size_t>(entry_.outputs[i].pair)] : outputs[i].bytes.data());
    }
    int64_t bytes = 0;
    std::vector<void*> size{&bytes};
    if (!ask(entry_.arena, size, symbols_)) return {code_, {}};
    Arena arena(static_cast<size_t>(bytes));
    std::vector<std::byte> weights = read_weights();
    buffers.insert(buffers.end(), {arena.data(), weights.data(), out_dims.data()});
    if (!ask(entry_.call, buffers, symbols_)) return {code_, {}};
    CHECK(arena.intact());
    finish(outputs, inputs, out_dims, in_place);
    return {0, std::move(outputs)};
  }

 private:
  bool ask(const std::string& name, const std::vector<void*>& buffers, const std::vector<int64_t>& scalars) {
    const tir::PrimFunc* function = module_.find_prim_func(name);
    REQUIRE(function != nullptr);
    tir::RunStatus status = run_->run(*function, buffers, scalars);
    code_ = status.code;
    return code_ == 0;
  }

  void solve(const std::vector<HostTensor>& inputs, const std::vector<void*>& in) {
    REQUIRE(inputs.size() == entry_.inputs.size());
    std::vector<int64_t> given;
    for (const interface::Symbol& symbol : entry_.symbols) {
      bool dim = symbol.tensor >= 0;
      symbols_.push_back(dim ? inputs[static_cast<size_t>(symbol.tensor)].shape[static_cast<size_t>(symbol.axis)]
                             : INT64_MIN);
      if (dim) given.push_back(symbols_.back());
      if (dim && (given.back() < symbol.lower || given.back() > symbol.upper)) code_ = 9;
    }
    if (code_ != 0 || entry_.values.empty()) return;
    std::vector<void*> buffers = in;
    buffers.push_back(symbols_.data());
    ask(entry_.values, buffers, given);
  }

  size_t num_dims() const {
    size_t n = 0;
    for (const auto* list : {&entry_.inputs, &entry_.outputs})
      for (const interface::Tensor& t : *list) n += t.dims.size();
    return n;
  }

  std::vector<HostTensor> make_outputs(std::vector<int64_t>& out_dims, std::optional<int64_t> capacity) const {
    std::vector<HostTensor> outputs;
    size_t at = 0;
    for (const interface::Tensor& spec : entry_.outputs) {
      HostTensor output{spec.dtype, {}, {}};
      size_t first = at;
      for (size_t axis = 0; axis < spec.dims.size(); ++axis) output.shape.push_back(out_dims[at++]);
      int64_t elements = capacity && spec.data_dependent ? *capacity : count(output.shape);
      output.bytes.resize(static_cast<size_t>(elements * spec.dtype.bytes()));
      if (spec.data_dependent) out_dims[first] = elements;
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  std::vector<std::byte> read_weights() const {
    std::vector<std::byte> bytes;
    object_.weights.stream([&](const std::byte* data, size_t size) { bytes.insert(bytes.end(), data, data + size); });
    REQUIRE(bytes.size() == object_.weights.bytes);
    return bytes;
  }

  void finish(std::vector<HostTensor>& outputs, const std::vector<HostTensor>& inputs,
              const std::vector<int64_t>& out_dims, bool in_place) const {
    size_t at = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      for (int64_t& dim : outputs[i].shape) dim = out_dims[at++];
      if (in_place && entry_.outputs[i].pair >= 0)
        outputs[i].bytes = inputs[static_cast<size_t>(entry_.outputs[i].pair)].bytes;
      outputs[i].bytes.resize(static_cast<size_t>(count(outputs[i].shape) * outputs[i].dtype.bytes()));
    }
  }

  const relax::Module& module_;
  const interface::Object& object_;
  const interface::Entry& entry_;
  std::unique_ptr<tir::Evaluator> run_;
  std::vector<int64_t> symbols_;
  int32_t code_ = 0;
};

}  // namespace

HostTensor floats(std::vector<int64_t> shape, double first) {
  std::vector<double> values;
  for (int64_t i = 0; i < count(shape); ++i) values.push_back(first + 0.25 * static_cast<double>(i));
  return tensor(DType::f(32), std::move(shape), values);
}

HostTensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  HostTensor made{dtype, std::move(shape), {}};
  for (double value : values) {
    std::vector<std::byte> bytes = relax::encode_scalar(dtype, value);
    made.bytes.insert(made.bytes.end(), bytes.begin(), bytes.end());
  }
  return made;
}

Program::Program(std::string text, std::vector<std::string> state) : text_(std::move(text)), state_(std::move(state)) {
  original_ = parse();
  lowered_ = parse();
  if (!lowered_) return;
  if (!state_.empty()) lowered_->find_function("main")->attrs["state"] = state_;
  relax::OpTable table = ops::op_table();
  Target target;
  auto evaluator = tir::make_interpreter();
  PassContext context{table, target, diag_, *evaluator, 2, &object_};
  static_cast<void>(bool(run_passes(kPasses, *lowered_, context, {})));
}

std::optional<relax::Module> Program::parse() {
  relax::OpTable table = ops::op_table();
  Result<relax::Module> module = frontend::parse_module("test.relax", text_, table, diag_);
  return module ? std::optional(std::move(*module)) : std::nullopt;
}

std::string Program::messages() const {
  std::string all;
  for (const Diagnostic& d : diag_.all()) all += std::string(kind_name(d.kind)) + ": " + d.text + "\n";
  return all;
}

Outcome Program::interpreted(const std::vector<HostTensor>& inputs) const {
  relax::OpTable table = ops::op_table();
  auto& module = const_cast<relax::Module&>(*original_);
  auto evaluator = tir::make_interpreter(
      [&](const std::string& name) -> const tir::PrimFunc* { return module.find_prim_func(name); }, external);
  auto result = relax::interpret(module, table, *module.find_function("main"), inputs, *evaluator, external);
  if (auto* fault = std::get_if<relax::RunFault>(&result)) {
    UNSCOPED_INFO(fault->text);
    return {fault->status.code, {}};
  }
  return {0, std::get<std::vector<HostTensor>>(std::move(result))};
}

Outcome Program::lowered(const std::vector<HostTensor>& inputs, std::optional<int64_t> capacity, bool in_place) const {
  return Call(*lowered_, object_, entry(), external).run(inputs, capacity, in_place);
}

uint64_t Program::arena_bytes(const std::vector<int64_t>& symbols) const {
  auto evaluator = tir::make_interpreter();
  int64_t bytes = 0;
  std::vector<void*> to{&bytes};
  REQUIRE(evaluator->run(*lowered_->find_prim_func(entry().arena), to, symbols).code == 0);
  return static_cast<uint64_t>(bytes);
}

std::string Program::text_of(const std::string& name) const {
  const tir::PrimFunc* function = lowered_->find_prim_func(name);
  return function == nullptr ? "" : tir::to_string(*function);
}

void check_same(const Program& program, const std::vector<HostTensor>& inputs) {
  Outcome expected = program.interpreted(inputs), found = program.lowered(inputs);
  INFO(program.text_of(program.entry().call));
  REQUIRE(expected.code == 0);
  REQUIRE(found.code == 0);
  REQUIRE(expected.outputs.size() == found.outputs.size());
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    CHECK(expected.outputs[i].dtype == found.outputs[i].dtype);
    CHECK(expected.outputs[i].shape == found.outputs[i].shape);
    CHECK(expected.outputs[i].bytes == found.outputs[i].bytes);
  }
}

}  // namespace relaxc::test
