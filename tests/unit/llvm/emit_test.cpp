// emit_test.cpp: objects that a C compiler links and a machine runs.
//
// The model here is made by hand, so that the test says what lowering promises to hand over and nothing else: `main`
// scales x by 2 into the arena and adds a weight a column; `fixed` is the same for one row and knows its sizes.
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/codegen/llvm/emit.h"
#include "compiler/interface/header.h"
#include "compiler/interface/identifiers.h"
#include "compiler/interface/typed_call.h"
#include "compiler/support/temporary_folder.h"
#include "tests/unit/llvm/programs.h"

namespace relaxc {
namespace {

namespace fs = std::filesystem;
using arith::Expr;
using arith::Var;
using codegen_llvm::OutputKind;

/// A temporary folder with a shell in it.
class Folder : public TemporaryFolder {
 public:
  std::string operator/(const std::string& name) const { return file(name); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
  int shell(const std::string& command) const {
    return std::system(("cd " + path().string() + " && " + command + " > log 2>&1").c_str());
  }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

class Model {
 public:
  explicit Model(tir::LoopKind rows = tir::LoopKind::kSerial) {
    DType f32 = DType::f(32), i64 = DType::i(64);
    kernels(f32, rows);
    tir::PrimFunc& sizes = functions_.emplace_back();
    sizes.name = "sizes";
    sizes.checks.overflow_code = 20;
    Var n = context_.var("n");
    tir::BufferRef bytes = b_.buffer("bytes", i64, {b_.index(1)});
    sizes.params = {{nullptr, n}, {bytes, {}}};
    sizes.body = b_.store(bytes, {b_.index(0)}, arith::cast(i64, n * 16));
    entry("main", n, {-1, 4}, {1, 1000}, 16000);
    object_.entries.back().arena = "sizes";
    entry("fixed", {}, {1, 4}, {}, 16);

    object_.name = "tiny";
    object_.producer = "relaxc test";
    object_.interface_hash = {1, 2, 3, 4, 5, 6, 7, 8};
    interface::assign_identifiers(object_);
    for (const tir::PrimFunc& function : functions_) object_.functions.push_back(&function);
    object_.weights.bytes = 64;
    object_.weights.stream = [](const auto& sink) {
      float values[16] = {0.5f, 1.5f, 2.5f, 3.5f};
      sink(reinterpret_cast<const std::byte*>(values), 20);
      sink(reinterpret_cast<const std::byte*>(values) + 20, 44);
    };
  }
  interface::Object& object() {
    return object_;
  }

 private:
  void kernels(DType f32, tir::LoopKind rows) {
    functions_.reserve(8);
    for (const char* name : {"double", "add"}) {
      bool add = std::strcmp(name, "add") == 0;
      tir::PrimFunc& f = functions_.emplace_back();
      f.name = name;
      Var n = context_.var("n");
      tir::BufferRef in = b_.buffer("in", f32, {n, b_.index(4)}), out = b_.buffer("out", f32, {n, b_.index(4)});
      tir::BufferRef w = b_.buffer("w", f32, {b_.index(4)}, tir::Scope::kWeights);
      f.params = {{in, {}}, {out, {}}};
      if (add) f.params.push_back({w, {}});
      f.symbols = {n};
      f.body = b_.loop(
          "i", n,
          [&](Var i) {
            return b_.loop(
                "j", b_.index(4),
                [&](Var j) {
                  Expr x = b_.load(in, {i, j});
                  return b_.store(out, {i, j}, add ? x + b_.load(w, {j}) : x * context_.imm_float(f32, 2));
                },
                tir::LoopKind::kVectorized);
          },
          rows);
    }
  }

  void entry(const std::string& name, Var n, std::vector<int64_t> dims, std::pair<int64_t, int64_t> range,
             uint64_t arena) {
    DType f32 = DType::f(32);
    tir::PrimFunc& f = functions_.emplace_back();
    f.name = name + "_body";
    Expr rows = n ? Expr(n) : b_.index(1);
    tir::BufferRef x = b_.buffer("x", f32, {rows, b_.index(4)}), y = b_.buffer("y", f32, {rows, b_.index(4)});
    tir::BufferRef memory = b_.buffer("arena", DType::u(8), {rows * 16}, tir::Scope::kGlobal, 64);
    tir::BufferRef weights = b_.buffer("weights", DType::u(8), {b_.index(64)}, tir::Scope::kWeights, 64);
    tir::BufferRef dims_out = b_.buffer("out_dims", DType::i(64), {b_.index(2)});
    f.params = {{x, {}}, {y, {}}, {memory, {}}, {weights, {}}, {dims_out, {}}};
    if (n) f.params.push_back({nullptr, n});
    tir::BufferRef t = b_.buffer("t", f32, {rows, b_.index(4)}),
                   w = b_.buffer("w", f32, {b_.index(4)}, tir::Scope::kWeights);
    tir::Invoke first{{}, "double", false, false, DType::i(32), {x, t}, -1},
        second{{}, "add", false, false, DType::i(32), {t, y, w}, -1};
    f.body = b_.view(t, memory, b_.index(0),
                     b_.view(w, weights, b_.index(0), b_.seq({b_.invoke(first), b_.invoke(second)})));
    interface::Entry e;
    e.name = name;
    auto tensor = [&](const char* name) {
      interface::Tensor t;
      t.name = t.identifier = name, t.dtype = f32, t.dims = dims, t.dim_text = {n ? "n" : "1", "4"};
      return t;
    };
    e.inputs = {tensor("x")};
    e.outputs = {tensor("y")};
    if (n) e.symbols = {{"n", range.first, range.second, 1, 0, 0}};
    e.call = f.name;
    e.arena_max = arena;
    object_.entries.push_back(std::move(e));
  }

  arith::Context context_;
  tir::Builder b_{context_};
  std::vector<tir::PrimFunc> functions_;
  interface::Object object_;
};

const char* const kProgram = R"(
#include <stdio.h>
#include <string.h>
#include "tiny.h"
static tiny_arena arena;
static tiny_fixed_arena small;
int main(void) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0};
  const float expected[8] = {2.5f, 5.5f, 8.5f, 11.5f, 10.5f, 13.5f, 16.5f, 19.5f};
  rlx_error error;
  rlx_context context = RLX_CONTEXT_INIT;
  tiny_args args;
  tiny_fixed_args fixed;
  uint64_t bytes = 0;
  context.arena = &arena; context.arena_bytes = sizeof arena; context.error = &error;
  args.x = x; args.y = y; args.n = 2;
  if (tiny_run(&context, &args) != RLX_OK || memcmp(y, expected, sizeof y) != 0) return 1;
  args.n = 1001;
  if (tiny_run(&context, &args) != RLX_DIM_BOUNDS || error.expected != 1000 || error.actual != 1001) return 2;
  args.n = 2; context.arena_bytes = 31;
  if (tiny_run(&context, &args) != RLX_ARENA_SIZE || error.expected != 32 || error.actual != 31) return 3;
  if (tiny_arena_bytes(2, &bytes) != RLX_OK || bytes != 32) return 4;
  context.arena = &small; context.arena_bytes = TINY_FIXED_ARENA_BYTES;
  fixed.x = x; fixed.y = y; memset(y, 0, sizeof y);
  if (tiny_fixed_run(&context, &fixed) != RLX_OK || memcmp(y, expected, 16) != 0) return 5;

  const rlx_function* f = &tiny_model.functions[0];
  int64_t in_shape[2] = {2, 4}, out_shape[2] = {2, 4}, symbols[1], dims[2];
  rlx_tensor in = {x, 1, 0, 2, RLX_DTYPE_FLOAT, 32, 1, NULL, NULL, 0}, out = {y, 1, 0, 2, RLX_DTYPE_FLOAT, 32, 1, NULL, NULL, 0};
  in.shape = in_shape; out.shape = out_shape;
  memset(y, 0, sizeof y);
  if (f->bind(NULL, &in, 1, symbols, &error) != RLX_OK || symbols[0] != 2) return 6;
  if (f->output_shape(symbols, 0, dims) != RLX_OK || dims[0] != 2 || dims[1] != 4) return 7;
  if (f->arena_bytes(symbols, &bytes) != RLX_OK || bytes != 32) return 8;
  context.arena = &arena; context.arena_bytes = bytes;
  if (f->run(&context, &in, 1, &out, 1) != RLX_OK || memcmp(y, expected, sizeof y) != 0) return 9;
  context.arena_bytes = 31;
  if (f->run(&context, &in, 1, &out, 1) != RLX_ARENA_SIZE) return 10;
  in_shape[1] = 5;
  if (f->run(&context, &in, 1, &out, 1) != RLX_STATIC_DIM) return 11;
  if (strcmp(tiny_model.functions[1].name, "fixed") != 0 || tiny_model.functions[1].arena_max != 16) return 12;
  return 0;
}
)";

const std::string kRuntime = RELAXC_RUNTIME, kInclude = std::string(" -I") + RELAXC_RUNTIME_INCLUDE + " ";
const std::string kWarnings = " -Wall -Wextra -pedantic -Wundef -Wshadow -Wconversion -Wcast-align -Werror ";

void emit(Model& model, const Folder& folder, const std::string& file, OutputKind kind, const Target& target) {
  Diagnostics diag;
  codegen_llvm::EmitOptions options;
  options.kind = kind;
  options.runtime = kRuntime;
  bool fine = static_cast<bool>(codegen_llvm::emit(model.object(), target, options, folder / file, diag));
  INFO(render(diag));
  REQUIRE(fine);
  folder.write("tiny.h", interface::c_header(model.object()));
}

TEST_CASE("a C program runs an object by the typed and by the generic call") {
  Model model;
  Folder folder;
  for (const Target& target : {testing::native_target(), testing::baseline_target()}) {
    emit(model, folder, "tiny.o", OutputKind::kObject, target);
    folder.write("main.c", kProgram);
    int built = folder.shell("cc -std=c99" + kWarnings + kInclude + "main.c tiny.o " + kRuntime + " -o main");
    INFO(folder.read("log"));
    REQUIRE(built == 0);
    CHECK(folder.shell("./main") == 0);
  }
}

TEST_CASE("parallel loops share their range among at most as many tasks as there are slots") {
  const std::string program = std::string(kProgram) + R"(
static int calls, most;
static int32_t backwards(void* user, int32_t tasks, int32_t (*task)(void*, int32_t), void* arg) {
  (void)user;
  calls++;
  if (tasks > most) most = tasks;
  for (int32_t i = tasks; i-- > 0;) {
    int32_t status = task(arg, i);
    if (status != 0) return status;
  }
  return 0;
}
int parallel(void) {
  static float x[4000], y[2][4000];
  rlx_context context = RLX_CONTEXT_INIT;
  tiny_args args;
  int64_t n;
  context.arena = &arena; context.arena_bytes = sizeof arena;
  for (int i = 0; i < 4000; i++) x[i] = (float)(i % 97);
  for (n = 1; n <= 1000; n += n < 20 ? 1 : 97) {
    for (int k = 0; k < 2; k++) {
      context.parallel_for = k == 0 ? NULL : backwards;
      args.x = x; args.y = y[k]; args.n = n;
      if (tiny_run(&context, &args) != RLX_OK) return 20;
    }
    if (memcmp(y[0], y[1], (size_t)n * 16) != 0) return 21;
  }
  return calls > 0 && most == 8 ? 0 : 22;
}
)";
  Model model(tir::LoopKind::kParallel);
  Folder folder;
  emit(model, folder, "tiny.o", OutputKind::kObject, testing::native_target());
  std::string text = program;
  text.replace(text.find("  return 0;\n}\n"), 14, "  return parallel();\n}\n");
  text.insert(text.find("int main"), "int parallel(void);\n");
  folder.write("main.c", text);
  int built = folder.shell("cc -std=c99" + kInclude + "main.c tiny.o " + kRuntime + " -o main");
  INFO(folder.read("log"));
  REQUIRE(built == 0);
  CHECK(folder.shell("./main") == 0);
}

TEST_CASE("assembly and a shared library hold the same model") {
  Model model;
  Folder folder;
  emit(model, folder, "tiny.s", OutputKind::kAssembly, testing::native_target());
  emit(model, folder, "libtiny.so", OutputKind::kSharedLibrary, testing::native_target());
  folder.write("main.c", kProgram);
  int built = folder.shell("cc" + kInclude + "main.c tiny.s " + kRuntime + " -o one && cc" + kInclude +
                           "main.c libtiny.so -Wl,-rpath,. -o two");
  INFO(folder.read("log"));
  REQUIRE(built == 0);
  CHECK(folder.shell("./one && ./two") == 0);
}

TEST_CASE("the header is C99, C11 and C++11") {
  Model model;
  Folder folder;
  folder.write("tiny.h", interface::c_header(model.object()));
  folder.write(
      "use.c",
      "#include \"tiny.h\"\nint use(void);\nint use(void) { return TINY_ARENA_MAX + TINY_FIXED_X_ELEMENTS; }\n");
  int built =
      folder.shell("for std in c99 c11; do cc -std=$std" + kWarnings + kInclude +
                   "-fshort-enums -c use.c || exit 1; done; c++ -x c++ -std=c++11" + kWarnings + kInclude + "-c use.c");
  INFO(folder.read("log") << folder.read("tiny.h"));
  CHECK(built == 0);
}

TEST_CASE("an object has no writable data, no stray symbols, and names its runtime") {
  Model model;
  Folder folder;
  emit(model, folder, "tiny.o", OutputKind::kObject, testing::native_target());
  REQUIRE(folder.shell("readelf -SW tiny.o") == 0);
  std::istringstream sections(folder.read("log"));
  for (std::string line; std::getline(sections, line);) {
    INFO(line);
    CHECK((line.find(" .data.rel.ro") != std::string::npos || line.find(" .data") == std::string::npos));
    CHECK(line.find("_array") == std::string::npos);
    if (line.find(" .bss") != std::string::npos) CHECK(line.find(" 000000 ") != std::string::npos);
  }
  REQUIRE(folder.shell("nm -u tiny.o") == 0);
  std::istringstream undefined(folder.read("log"));
  for (std::string kind, name; undefined >> kind >> name;) {
    INFO(name);
    CHECK((name.rfind("rlx_", 0) == 0 || name == "memcpy" || name == "memmove" || name == "memset"));
  }
  REQUIRE(folder.shell("nm -g --defined-only tiny.o") == 0);
  std::istringstream defined(folder.read("log"));
  for (std::string address, kind, name; defined >> address >> kind >> name;) {
    INFO(name);
    CHECK(name.rfind("tiny_", 0) == 0);
  }
  folder.write("use.c", "#include \"tiny.h\"\nint main(void) { return tiny_run(0, 0) != RLX_NULL_POINTER; }\n");
  CHECK(folder.shell("cc" + kInclude + "-ffunction-sections use.c tiny.o " + kRuntime +
                     " -Wl,--gc-sections -o fine && ./fine") == 0);
  CHECK(folder.shell("nm fine | grep -q tiny_model") != 0);
  CHECK(folder.shell("cc" + kInclude + "-ffunction-sections use.c tiny.o -Wl,--gc-sections -o bad") != 0);
  CHECK(folder.read("log").find("rlx_abi_1") != std::string::npos);
}

TEST_CASE("other machines get objects that need no more than their compiler's helpers") {
  for (const char* triple : {"aarch64-linux-gnu", "riscv64-linux-gnu", "thumbv7em-none-eabi", "riscv32-unknown-elf"}) {
    Diagnostics diag;
    auto target = codegen_llvm::resolve_target(triple, "", "", diag);
    INFO(triple << "\n" << render(diag));
    REQUIRE(target);
    Model model;
    Folder folder;
    emit(model, folder, "tiny.o", OutputKind::kObject, *target);
    REQUIRE(folder.shell("readelf -sW tiny.o | grep -w UND | awk 'NF > 7 { print $8 }'") == 0);
    std::istringstream undefined(folder.read("log"));
    for (std::string name; undefined >> name;) {
      INFO(name);
      bool helper = name.rfind("__", 0) == 0 && name.rfind("__aeabi_unwind", 0) != 0;  // of libgcc and compiler-rt
      bool table = name == "_GLOBAL_OFFSET_TABLE_";
      CHECK(
          (name.rfind("rlx_", 0) == 0 || name == "memcpy" || name == "memmove" || name == "memset" || helper || table));
    }
    REQUIRE(folder.shell("readelf -rW tiny.o") == 0);
    CHECK(folder.read("log").find("_NONE") != std::string::npos);
  }
}

TEST_CASE("targets that do not exist are usage errors") {
  for (auto [triple, cpu, features] :
       {std::array{"nonsense-linux", "", ""}, std::array{"x86_64-linux-gnu", "z80", ""},
        std::array{"x86_64-linux-gnu", "", "+wings"}, std::array{"aarch64-linux-gnu", "native", ""},
        std::array{"powerpc-ibm-aix", "", ""}}) {
    Diagnostics diag;
    CHECK(!codegen_llvm::resolve_target(triple, cpu, features, diag));
    CHECK((diag.error_count() == 1 && diag.all()[0].kind == Kind::usage));
  }
}

TEST_CASE("the same object is written with the same bytes") {
  Folder folder;
  for (const char* name : {"a.o", "b.o"}) {
    Model model;
    emit(model, folder, name, OutputKind::kObject, testing::native_target());
  }
  CHECK(folder.read("a.o") == folder.read("b.o"));
}

TEST_CASE("weights are streamed, not held") {
  Model model;
  Folder folder;
  constexpr uint64_t kBytes = uint64_t{96} << 20;
  model.object().weights.bytes = kBytes;
  model.object().weights.stream = [](const auto& sink) {
    std::vector<std::byte> piece(1 << 20, std::byte{0});
    for (uint64_t at = 0; at < kBytes; at += piece.size()) sink(piece.data(), piece.size());
  };
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  emit(model, folder, "tiny.o", OutputKind::kObject, testing::native_target());
  getrusage(RUSAGE_SELF, &after);
  CHECK(fs::file_size(folder / "tiny.o") > kBytes);
#ifndef __SANITIZE_ADDRESS__                              // which keeps freed memory for a while
  CHECK(after.ru_maxrss - before.ru_maxrss < 32 * 1024);  // kilobytes
#endif
}

}  // namespace
}  // namespace relaxc
