// objects.cpp: emit, compile, load, call.
#include "tests/property/objects.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/codegen/c/emit.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/interface/header.h"

namespace relaxc::property {

namespace fs = std::filesystem;
using onnx_tests::LoadedModel;

namespace {

/// A folder that is gone when the test is.
struct Folder {
  Folder() : path((fs::temp_directory_path() / "relaxc-property-XXXXXX").string()) {
    RELAXC_CHECK(mkdtemp(path.data()) != nullptr, "no temporary folder");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  std::string path;
};

bool write_c(const interface::Object& object, const std::string& folder, std::string& fault) {
  std::ofstream(folder + "/random.h") << interface::c_header(object);
  std::ofstream out(folder + "/random.c");
  codegen_c::emit_c(object, "random.h", [&](std::string_view text) { return bool(out << text); });
  out.close();
  std::string command =
      fmt::format(RELAXC_C_COMPILER " -std=c99 -O1 -ffp-contract=off -fPIC -shared -w -I " RELAXC_SOURCE_DIR
                                    "/runtime-lite/include -I {0} -o {0}/random.so {0}/random.c " RELAXC_RUNTIME_LIBRARY
                                    " -lm 2> {0}/errors",
                  folder);
  if (std::system(command.c_str()) == 0) return true;
  std::ifstream errors(folder + "/errors");
  fault.assign(std::istreambuf_iterator<char>(errors), {});
  return false;
}

}  // namespace

std::unique_ptr<LoadedModel> load_object(const interface::Object& object, const Target& target,
                                         const std::string& level, bool by_c, std::string& fault) {
  Folder folder;
  std::string library = folder.path + "/random.so";
  if (by_c) {
    if (!write_c(object, folder.path, fault)) return nullptr;
  } else {
    Diagnostics diag;
    codegen_llvm::EmitOptions options;
    options.kind = codegen_llvm::OutputKind::kSharedLibrary;
    options.opt = level;
    options.runtime = RELAXC_RUNTIME_LIBRARY;
    if (!codegen_llvm::emit(object, target, options, library, diag)) {
      fault = render(diag);
      return nullptr;
    }
  }
  return LoadedModel::open(library, object.name, fault);
}

meaning::Outcome run_object(const LoadedModel& loaded, const std::string& function,
                            const std::vector<meaning::HostTensor>& inputs) {
  for (uint32_t entry = 0; entry < loaded.model().num_functions; ++entry) {
    if (loaded.function(entry).name != function) continue;
    auto answer = loaded.run(inputs, LoadedModel::kApart, entry);
    if (answer.index() == 0) return std::get<0>(std::move(answer));
    return relax::RunFault{{.code = -1}, std::get<1>(answer)};
  }
  return relax::RunFault{{.code = -1}, "there is no entry '" + function + "'"};
}

}  // namespace relaxc::property
