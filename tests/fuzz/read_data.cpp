// read_data.cpp: files that give the inputs of a call (--selftest-data, --input), as arbitrary bytes. The first byte
// says of which function of a model and in which format. They are read, or refused with a message that can be printed;
// what was read has the type that its input needs and as many bytes as its shape says.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/api/input/tensor_files.h"
#include "compiler/support/check.h"
#include "tests/abi/fake_model.h"

namespace {

/// A folder that is there as long as the process.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fuzz_read_data_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void check(const rlx_function& function, const relaxc::api::DataSet& set) {
  using relaxc::api::dtype_of;
  for (uint32_t i = 0; i < function.num_inputs; ++i) {
    const rlx_tensor_spec& spec = function.inputs[i];
    const auto& tensor = set.inputs[i];
    if (!tensor) continue;
    RELAXC_CHECK(tensor->dtype == dtype_of(spec.dtype_code, spec.dtype_bits), "an input of another type");
    RELAXC_CHECK(tensor->bytes.size() == static_cast<size_t>(tensor->elements() * tensor->dtype.bytes()),
                 "an input of more or fewer bytes than its shape says");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace relaxc;
  constexpr const char* kFormats[] = {".npy", ".pb", ".npz", ".safetensors"};
  static const Folder folder;
  if (size == 0) return 0;
  const std::string path = (folder.path() / "x").string() + kFormats[data[0] % 4];
  std::filesystem::remove(path);  // some file systems write a file to the disk that is emptied and filled again
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data) + 1, std::streamsize(size) - 1);
  const rlx_function& function = fake_model.functions[data[0] / 4 % FAKE_NUM_FUNCTIONS];
  Diagnostics diag;
  Result<std::vector<api::DataSet>> sets = api::read_data(fake_model, function, {path}, {}, diag);
  RELAXC_CHECK(bool(sets) != diag.has_errors(), "a file is read, or refused with a message");
  render(diag);
  if (!sets) return 0;
  for (const api::DataSet& set : *sets) check(function, set);
  return 0;
}
