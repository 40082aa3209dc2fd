// objects.cpp: emit, compile, load, call.
#include "tests/property/objects.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "compiler/codegen/c/emit.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/interface/header.h"
#include "compiler/support/temporary_folder.h"

namespace relaxc::property {

using onnx_tests::LoadedModel;

namespace {

bool write_c(const interface::Object& object, const std::string& folder, std::string& fault) {
  std::ofstream(folder + "/random.h") << interface::c_header(object);
  std::ofstream out(folder + "/random.c");
  codegen_c::Write write = [&](std::string_view text) { return bool(out << text); };
  codegen_c::emit_c(object, "random", [&](const std::string&) { return write; });
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
  TemporaryFolder folder;
  RELAXC_CHECK(!folder.path().empty(), "no temporary folder");
  std::string library = folder.file("random.so");
  if (by_c) {
    if (!write_c(object, folder.path().string(), fault)) return nullptr;
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

equivalence::Outcome run_object(const LoadedModel& loaded, const std::string& function,
                                const std::vector<equivalence::HostTensor>& inputs) {
  for (uint32_t entry = 0; entry < loaded.model().num_functions; ++entry) {
    if (loaded.function(entry).name != function) continue;
    auto answer = loaded.run(inputs, LoadedModel::kApart, entry);
    if (answer.index() == 0) return std::get<0>(std::move(answer));
    return relax::RunFault{{.code = -1}, std::get<1>(answer)};
  }
  return relax::RunFault{{.code = -1}, "there is no entry '" + function + "'"};
}

}  // namespace relaxc::property
