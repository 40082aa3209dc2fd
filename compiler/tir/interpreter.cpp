// interpreter.cpp: runs flat code; the oracle of every test.
//
// A register machine with one switch; a matmul's inner statement is some ten instructions. Loops whose iterations are
// independent run in batches (interpreter_batch.h). On one 2.5 GHz core a naive 160^3 float32 matmul runs at 190
// million statements a second, an element-wise maximum at 350, a copy at 1000; one by one it is 12, 44 and 70 (unit_tir
// "[speed]" measures it). Rejected: walking the tree, which is an order of magnitude slower still; compiling, since the
// compiler is what must be tested against this.
#include <bit>
#include <cstring>
#include <map>

#include "compiler/tir/evaluator.h"
#include "compiler/tir/interpreter_batch.h"
#include "compiler/tir/interpreter_ops.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::tir {
namespace {

using namespace interpreter;

constexpr int32_t kRecursionDepth = 36;  // RLX_RECURSION_DEPTH
constexpr int kDeepest = 400;

class Interpreter final : public Evaluator {
 public:
  Interpreter(FindFunction find, CallExternal external, bool check_bounds)
      : find_(std::move(find)), external_(std::move(external)), check_bounds_(check_bounds), batches_(check_bounds) {}

  RunStatus run(const PrimFunc& function, std::span<void* const> buffers, std::span<const int64_t> scalars) override {
    programs_.clear();  // a later module may reuse the addresses of an earlier one
    heap_.clear();
    return execute(program_of(function), buffers, scalars);
  }

 private:
  const Program& program_of(const PrimFunc& function) {
    auto [it, fresh] = programs_.try_emplace(&function);
    if (fresh) it->second = std::make_unique<Program>(compile(function));
    return *it->second;
  }

  RunStatus execute(const Program& program, std::span<void* const> buffers, std::span<const int64_t> scalars) {
    RELAXC_CHECK(buffers.size() == program.buffer_params.size() && scalars.size() == program.scalar_params.size(),
                 "a prim func is run with too few or too many arguments");
    if (++depth_ > kDeepest) {
      --depth_;
      return {.code = kRecursionDepth, .expected = kDeepest};
    }
    std::vector<Register> registers(program.registers);
    for (const Constant& constant : program.constants) registers[constant.reg] = constant.value;
    for (size_t i = 0; i < buffers.size(); ++i) registers[program.buffer_params[i]].p = buffers[i];
    for (size_t i = 0; i < scalars.size(); ++i)
      registers[program.scalar_params[i]] = scalar(program.scalar_dtypes[i], scalars[i]);
    std::vector<std::unique_ptr<std::byte[]>> memory;
    RunStatus status = loop(program, registers.data(), memory);
    --depth_;
    return status;
  }

  static Register scalar(DType dtype, int64_t bits) {
    Register r{};
    r.i = bits;
    if (dtype.is_float() && dtype.bits < 64) r.f = static_cast<float>(std::bit_cast<double>(bits));
    return r;
  }

  /// The address of an element. Out of bounds, a lenient load reads zeros; else it is a bug in what made the program.
  std::byte* element(const Program& program, const Register* r, const Instruction& n, int64_t bytes) const {
    int64_t at = r[n.b].i;
    bool outside = at < 0 || at >= r[n.extra].i;
    if (outside && n.lenient) return zeros_;
    if (outside && check_bounds_)
      RELAXC_UNREACHABLE("element " + std::to_string(at) + " of buffer " + program.buffer_names[n.c] + " of " +
                         std::to_string(r[n.extra].i) + " elements");
    return static_cast<std::byte*>(r[n.a].p) + at * bytes;
  }
  template <typename T>
  T fetch(const Program& program, const Register* r, const Instruction& n) const {
    T value;
    std::memcpy(&value, element(program, r, n, sizeof(T)), sizeof(T));
    return value;
  }
  template <typename T>
  void put(const Program& program, const Register* r, const Instruction& n, T value) const {
    std::memcpy(element(program, r, n, sizeof(T)), &value, sizeof(T));
  }
  void put_small(const Program& program, const Register* r, const Instruction& n) const {
    uint64_t bits = arith::encode_float(n.dtype, static_cast<double>(r[n.dst].f));
    std::memcpy(element(program, r, n, n.dtype.bytes()), &bits, static_cast<size_t>(n.dtype.bytes()));
  }
  float fetch_small(const Program& program, const Register* r, const Instruction& n) const {
    uint64_t bits = 0;
    std::memcpy(&bits, element(program, r, n, n.dtype.bytes()), static_cast<size_t>(n.dtype.bytes()));
    return static_cast<float>(arith::decode_float(n.dtype, bits));
  }

  RunStatus loop(const Program& program, Register* r, std::vector<std::unique_ptr<std::byte[]>>& memory);
  RunStatus call(const CallRecord& record, const Register* r);
  static int64_t scalar_bits(const Register& r, DType dtype);
  static void set_scalar(Register& r, DType dtype, const std::byte* bytes);
  RunStatus call_external(const CallRecord& record, Register* r, uint32_t result);
  RunStatus call_runtime(const CallRecord& record, const Register* r);
  RunStatus read_object(const int64_t* handle, int64_t* words, int64_t kind);
  RunStatus reserve(int64_t* block, int64_t keep, int64_t bytes);
  static ExternalResult wanted(const int64_t* words, int64_t count);
  RunStatus take_result(const ExternalResult& result, int64_t* words, int64_t count);

  static RunStatus failed(const GuardRecord& guard, const Register* r) {
    return {guard.code, guard.tensor, guard.axis, guard.symbol, guard.node, r[guard.expected].i, r[guard.actual].i};
  }

  FindFunction find_;
  CallExternal external_;
  bool check_bounds_;
  mutable std::byte zeros_[16] = {};  ///< what lenient loads read out of bounds
  std::map<const PrimFunc*, std::unique_ptr<Program>> programs_;
  std::map<int64_t, std::unique_ptr<std::byte[]>> heap_;  ///< the heap blocks of the run, by their addresses
  BatchRunner batches_;
  int depth_ = 0;
};

// One line an instruction; the switch is the whole machine.
#define CASE(name, ...) \
  case Op::k##name:     \
    __VA_ARGS__;        \
    break;
#define PURE_CASE(name, ...)                     \
  case Op::k##name: {                            \
    [[maybe_unused]] const Register& c = r[n.c]; \
    __VA_ARGS__;                                 \
    break;                                       \
  }

RunStatus Interpreter::loop(const Program& program, Register* r, std::vector<std::unique_ptr<std::byte[]>>& memory) {
  const Instruction* code = program.code.data();
  for (size_t pc = 0;; ++pc) {
    const Instruction& n = code[pc];
    Register& d = r[n.dst];
    const Register a = r[n.a], b = r[n.b];
    switch (n.op) {
      RELAXC_PURE_OPS(PURE_CASE)
      CASE(CheckedAddI,
           if (__builtin_add_overflow(a.i, b.i, &d.i)) return failed(program.guards[static_cast<size_t>(n.extra)], r))
      CASE(CheckedSubI,
           if (__builtin_sub_overflow(a.i, b.i, &d.i)) return failed(program.guards[static_cast<size_t>(n.extra)], r))
      CASE(CheckedMulI,
           if (__builtin_mul_overflow(a.i, b.i, &d.i)) return failed(program.guards[static_cast<size_t>(n.extra)], r))
      CASE(Load8I, d.i = fetch<int8_t>(program, r, n))
      CASE(Load8U, d.i = fetch<uint8_t>(program, r, n))
      CASE(Load16I, d.i = fetch<int16_t>(program, r, n))
      CASE(Load16U, d.i = fetch<uint16_t>(program, r, n))
      CASE(Load32I, d.i = fetch<int32_t>(program, r, n))
      CASE(Load32U, d.i = fetch<uint32_t>(program, r, n))
      CASE(Load64, d.i = fetch<int64_t>(program, r, n))
      CASE(LoadF, d.f = fetch<float>(program, r, n))
      CASE(LoadSmall, d.f = fetch_small(program, r, n))
      CASE(Store8, put(program, r, n, static_cast<uint8_t>(d.u)))
      CASE(Store16, put(program, r, n, static_cast<uint16_t>(d.u)))
      CASE(Store32, put(program, r, n, static_cast<uint32_t>(d.u)))
      CASE(Store64, put(program, r, n, d.u))
      CASE(StoreF, put(program, r, n, d.f))
      CASE(StoreSmall, put_small(program, r, n))
      CASE(Jump, pc = static_cast<size_t>(n.extra) - 1)
      CASE(Batch, pc = batches_.run(program, r, n) - 1)
      CASE(JumpIfZero, if (a.i == 0) pc = static_cast<size_t>(n.extra) - 1)
      CASE(JumpIfNotLess, if (a.i >= b.i) pc = static_cast<size_t>(n.extra) - 1)
      CASE(LoopNext, if (++d.i < b.i) pc = static_cast<size_t>(n.extra) - 1)
      CASE(Offset, d.p = static_cast<std::byte*>(a.p) + b.i)
      CASE(Alloc, memory.push_back(std::make_unique<std::byte[]>(static_cast<size_t>(std::max<int64_t>(a.i, 1))));
           d.p = memory.back().get());
      CASE(Free, std::erase_if(memory, [&](const auto& block) { return block.get() == a.p; }))
      CASE(Guard, if (a.i == 0) return failed(program.guards[static_cast<size_t>(n.extra)], r))
      case Op::kCall:
      case Op::kCallExternal:
      case Op::kCallRuntime: {
        const CallRecord& record = program.calls[static_cast<size_t>(n.extra)];
        RunStatus status = n.op == Op::kCall           ? call(record, r)
                           : n.op == Op::kCallExternal ? call_external(record, r, n.dst)
                                                       : call_runtime(record, r);
        if (!status && status.node < 0) status.node = record.error_node;
        if (!status) return status;
        break;
      }
      case Op::kEnd:
        return {};
    }
  }
}

RunStatus Interpreter::call(const CallRecord& record, const Register* r) {
  const PrimFunc* callee = find_ ? find_(record.callee) : nullptr;
  RELAXC_CHECK(callee != nullptr, "a call of an unknown prim func " + record.callee);
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  for (const CallArgument& arg : record.args) {
    if (arg.is_buffer)
      buffers.push_back(r[arg.value].p);
    else
      scalars.push_back(scalar_bits(r[arg.value], arg.dtype));
  }
  return execute(program_of(*callee), buffers, scalars);
}

/// Does what the runtime's heap does (runtime-lite/core/heap.c), with the interpreter's memory.
RunStatus Interpreter::call_runtime(const CallRecord& record, const Register* r) {
  auto address = [&](size_t i) { return static_cast<int64_t*>(r[record.args.at(i).value].p); };
  const RuntimeRow* row = find_runtime_function(record.callee);
  RELAXC_CHECK(row != nullptr, record.callee);
  switch (row->function) {
    case RuntimeFunction::kHeapBegin:
      std::fill_n(address(0), kHeapWords, 0);
      return {};
    case RuntimeFunction::kHeapReserve:
      return reserve(address(1), r[record.args.at(2).value].i, r[record.args.at(3).value].i);
    case RuntimeFunction::kHeapClaim:
      std::fill_n(address(1), kBlockWords, 0);
      return reserve(address(1), 0, r[record.args.at(2).value].i);
    case RuntimeFunction::kHeapRelease:
      heap_.erase(address(1)[0]);
      std::fill_n(address(1), kBlockWords, 0);
      return {};
    case RuntimeFunction::kObjectRead:
      return read_object(address(0), address(1), r[record.args.at(2).value].i);
    default:
      RELAXC_UNREACHABLE("the interpreter has no " + record.callee);
  }
}

/// Calls the external function that reads an object by its handle, as rlx_object_read does, and takes its result.
RunStatus Interpreter::read_object(const int64_t* handle, int64_t* words, int64_t kind) {
  RELAXC_CHECK(external_ != nullptr, "an object from outside");
  ExternalResult made = wanted(words, 0);
  std::vector<ExternalArg> args{{nullptr, DType::handle(), {}, *handle},
                                {nullptr, DType::handle(), {}, 0, &made},
                                {nullptr, DType::i(64), {}, kind}};
  if (int32_t code = external_(runtime_name(RuntimeFunction::kObjectRead), args); code != 0) return {.code = code};
  return take_result(made, words, 0);
}

RunStatus Interpreter::reserve(int64_t* block, int64_t keep, int64_t bytes) {
  constexpr int32_t kOutOfMemory = 38;  // RLX_OUT_OF_MEMORY
  constexpr int64_t kMost = int64_t{1} << 36, kAlignment = 64;
  if (block[0] != 0 && bytes <= block[1]) return {};
  if (bytes > kMost) return {.code = kOutOfMemory, .expected = bytes};
  int64_t room = std::max<int64_t>(bytes, 1);
  auto memory = std::make_unique<std::byte[]>(static_cast<size_t>(room + kAlignment));
  auto begin = (reinterpret_cast<int64_t>(memory.get()) + kAlignment - 1) / kAlignment * kAlignment;
  if (keep > 0)
    std::memcpy(reinterpret_cast<void*>(begin), reinterpret_cast<void*>(block[0]), static_cast<size_t>(keep));
  heap_.erase(block[0]);
  heap_[begin] = std::move(memory);
  block[0] = begin, block[1] = room;
  return {};
}

/// The bits of a scalar as an Evaluator takes them: a float is a double.
int64_t Interpreter::scalar_bits(const Register& r, DType dtype) {
  bool single = dtype.is_float() && dtype.bits < 64;
  return single ? std::bit_cast<int64_t>(static_cast<double>(r.f)) : r.i;
}

/// Loads a value from memory into a register.
void Interpreter::set_scalar(Register& r, DType dtype, const std::byte* bytes) {
  if (dtype == DType::f(32)) {
    std::memcpy(&r.f, bytes, sizeof r.f);
    return;
  }
  r.u = 0;
  std::memcpy(&r.u, bytes, static_cast<size_t>(dtype.bytes()));
  if (dtype.is_integer() && dtype.bits < 64) r.i = arith::wrap_to_dtype(r.i, dtype);
}

RunStatus Interpreter::call_external(const CallRecord& record, Register* r, uint32_t result) {
  constexpr int32_t kExternalFailed = 35;  // RLX_EXTERNAL_FAILED
  RELAXC_CHECK(external_ != nullptr, "a call of external function " + record.callee + ", which is not provided");
  std::vector<ExternalArg> args;
  std::vector<std::unique_ptr<ExternalResult>> results(record.args.size());
  for (size_t i = 0; i < record.args.size(); ++i) {
    const CallArgument& arg = record.args[i];
    ExternalArg out{nullptr, arg.dtype, {}, 0};
    bool handle = arg.is_buffer && arg.dtype == DType::handle();
    if (handle && arg.shape.empty())
      std::memcpy(&out.scalar, r[arg.value].p, sizeof out.scalar);
    else if (handle)
      results[i] = std::make_unique<ExternalResult>(wanted(static_cast<int64_t*>(r[arg.value].p), r[arg.shape[0]].i)),
      out.result = results[i].get();
    else if (arg.is_buffer)
      out.data = r[arg.value].p;
    else
      out.scalar = scalar_bits(r[arg.value], arg.dtype);
    for (uint32_t dim : arg.shape) out.shape.push_back(r[dim].i);
    args.push_back(std::move(out));
  }
  std::byte bytes[16] = {};
  bool returns = record.plain && record.result != DType::handle();
  if (returns) args.push_back({bytes, record.result, {}, 0});
  int32_t code = external_(record.callee, args);
  if (returns) set_scalar(r[result], record.result, bytes);
  if (code != 0) return {.code = kExternalFailed, .actual = code};
  if (record.status && r[result].i != 0) return {.code = static_cast<int32_t>(r[result].i)};
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] != nullptr)
      if (RunStatus status =
              take_result(*results[i], static_cast<int64_t*>(r[record.args[i].value].p), r[record.args[i].shape[0]].i);
          !status)
        return status;
  return {};
}

/// The result that the words ask for: a handle if there is one word, else a tensor whose dtype has DLPack's code.
ExternalResult Interpreter::wanted(const int64_t* words, int64_t count) {
  if (count == 1) return {DType::handle(), {}, {}};
  auto bits = static_cast<uint8_t>(words[2] >> 8);
  auto code = [&] {
    switch (words[2] & 0xff) {
      case 0:
        return TypeCode::kInt;
      case 1:
        return TypeCode::kUInt;
      case 3:
        return TypeCode::kHandle;
      case 4:
        return TypeCode::kBFloat;
      case 6:
        return TypeCode::kBool;
      case 10:
        return TypeCode::kFloat8E4M3FN;
      case 11:
        return TypeCode::kFloat8E4M3FNUZ;
      case 12:
        return TypeCode::kFloat8E5M2;
      case 13:
        return TypeCode::kFloat8E5M2FNUZ;
      default:
        return TypeCode::kFloat;
    }
  };
  return {DType{code(), bits}, std::vector<int64_t>(static_cast<size_t>(words[1])), {}};
}

/// Stores the result of an external function: a handle, or a tensor in the words of runtime-lite/core/result.c.
RunStatus Interpreter::take_result(const ExternalResult& result, int64_t* words, int64_t count) {
  constexpr int32_t kDtype = 4, kRank = 5;  // RLX_DTYPE, RLX_RANK
  constexpr int64_t kWordsBeforeDims = 3;
  if (count == 1) {
    std::memcpy(words, result.bytes.data(), sizeof *words);
    return {};
  }
  int64_t rank = static_cast<int64_t>(result.shape.size());
  if (result.dtype != wanted(words, 0).dtype) return {.code = kDtype};
  if (rank != words[1]) return {.code = kRank, .expected = words[1], .actual = rank};
  int64_t block[2] = {0, 0};
  RunStatus status = reserve(block, 0, static_cast<int64_t>(result.bytes.size()));
  if (!status) return status;
  if (!result.bytes.empty()) std::memcpy(reinterpret_cast<void*>(block[0]), result.bytes.data(), result.bytes.size());
  words[0] = block[0];
  for (int64_t axis = 0; axis < rank; ++axis) words[kWordsBeforeDims + axis] = result.shape[static_cast<size_t>(axis)];
  return {};
}

}  // namespace

std::unique_ptr<Evaluator> make_interpreter(FindFunction find, CallExternal external, bool check_bounds) {
  return std::make_unique<Interpreter>(std::move(find), std::move(external), check_bounds);
}

}  // namespace relaxc::tir
