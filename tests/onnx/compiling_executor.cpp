// compiling_executor.cpp: all of it: compile(), the linker, the loaded library.
//
// Both backends print the same TIR, whose arithmetic is strict, so their outputs must agree bit for bit (NaNs count as
// equal); the result that is then compared with the reference is that of the LLVM backend.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "compiler/api/compile.h"
#include "compiler/arith/float_bits.h"
#include "compiler/support/temporary_folder.h"
#include "tests/onnx/executor.h"
#include "tests/onnx/loaded_model.h"
#include "tests/onnx/run_allocator.h"

namespace relaxc::onnx_tests {
namespace {

namespace fs = std::filesystem;

/// Whether two elements are the same bits, or both NaN.
bool same_element(DType dtype, const std::byte* a, const std::byte* b) {
  auto size = static_cast<size_t>(dtype.bytes());
  if (std::memcmp(a, b, size) == 0) return true;
  if (!dtype.is_float()) return false;
  uint64_t x = 0, y = 0;
  std::memcpy(&x, a, size);
  std::memcpy(&y, b, size);
  return std::isnan(arith::decode_float(dtype, x)) && std::isnan(arith::decode_float(dtype, y));
}

/// Empty if the two backends agree.
std::string difference(const std::vector<HostTensor>& llvm, const std::vector<HostTensor>& c) {
  for (size_t i = 0; i < llvm.size(); ++i) {
    if (llvm[i].shape != c[i].shape) return fmt::format("the backends give output {} different shapes", i);
    auto size = static_cast<size_t>(llvm[i].dtype.bytes());
    for (size_t at = 0; at < llvm[i].bytes.size(); at += size)
      if (!same_element(llvm[i].dtype, llvm[i].bytes.data() + at, c[i].bytes.data() + at))
        return fmt::format("the backends differ in output {}, element {}", i, at / size);
  }
  return {};
}

class Compiled : public Prepared {
 public:
  Compiled(std::unique_ptr<LoadedModel> llvm, std::unique_ptr<LoadedModel> c, bool with_allocator)
      : llvm_(std::move(llvm)), c_(std::move(c)) {
    if (with_allocator) llvm_->set_allocator(RunAllocator::take, &allocator_);
    if (with_allocator && c_ != nullptr) c_->set_allocator(RunAllocator::take, &allocator_);
  }

  std::variant<std::vector<HostTensor>, std::string> run(const std::vector<HostTensor>& inputs) override {
    auto result = llvm_->run(inputs);
    if (c_ == nullptr || std::holds_alternative<std::string>(result)) return result;
    auto other = c_->run(inputs);
    if (std::holds_alternative<std::string>(other)) return "C backend: " + std::get<std::string>(other);
    std::string differs = difference(std::get<0>(result), std::get<0>(other));
    return differs.empty() ? result : differs;
  }

  bool allocated() const override { return allocator_.used(); }

 private:
  std::unique_ptr<LoadedModel> llvm_, c_;
  RunAllocator allocator_;
};

class CompilingExecutor : public Executor {
 public:
  explicit CompilingExecutor(CompileOptions options) : options_(std::move(options)) {
    RELAXC_CHECK(!folder_.path().empty(), "no temporary folder");
  }

  std::unique_ptr<Prepared> prepare(const std::string& model, bool with_allocator, std::string& fault) override {
    std::string stem = fmt::format("m{}", count_++);
    std::unique_ptr<LoadedModel> llvm = make(model, stem + "_llvm", ".so", fault), c;
    if (llvm != nullptr && !options_.c_compiler.empty()) {
      c = make(model, stem + "_c", ".c", fault);
      if (c == nullptr) return nullptr;
    }
    return llvm == nullptr ? nullptr : std::make_unique<Compiled>(std::move(llvm), std::move(c), with_allocator);
  }

 private:
  std::unique_ptr<LoadedModel> make(const std::string& model, const std::string& name, const char* extension,
                                    std::string& fault) {
    api::CompileOptions options;
    options.input = model;
    options.output = folder_.file(name + extension);
    options.opt = options_.level;
    options.fast_codegen = options_.fast;
    options.cpu = options_.cpu;
    options.runtime = options_.runtime;
    if (std::string(extension) == ".c") options.c_style.vectors = options_.c_vectors;
    Diagnostics diag;
    if (!api::compile_to_files(options, diag)) {
      fault = render(diag);
      return nullptr;
    }
    std::string library = folder_.file(name + ".so");
    if (std::string(extension) == ".c" && !compile_c(options.output, library)) {
      fault = "the C compiler does not accept " + options.output;
      return nullptr;
    }
    std::unique_ptr<LoadedModel> loaded = LoadedModel::open(library, name, fault);
    for (const char* rest : {".so", ".c", ".h"}) fs::remove(folder_.file(name + rest));
    return loaded;
  }

  bool compile_c(const std::string& source, const std::string& library) const {
    // The flags under which the text must be clean.
    std::string command = fmt::format(
        "{} -std=c99 -O1 -ffp-contract=off -fPIC -shared -Wall -Wextra -pedantic -Werror -I {} -I {} -o {} {} {} -lm",
        options_.c_compiler, options_.include, folder_.path().string(), library, source, options_.runtime);
    return std::system(command.c_str()) == 0;
  }

  CompileOptions options_;
  TemporaryFolder folder_;
  int count_ = 0;
};

}  // namespace

std::unique_ptr<Executor> make_compiling_executor(CompileOptions options) {
  return std::make_unique<CompilingExecutor>(std::move(options));
}

}  // namespace relaxc::onnx_tests
