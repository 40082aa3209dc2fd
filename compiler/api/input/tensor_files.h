// tensor_files.h: tensors on their way from and to files, and random ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/relax/interpret.h"
#include "compiler/support/result.h"
#include "runtime-lite/include/relax_rt.h"

namespace relaxc::api {

/// The dtype of an rlx_tensor_spec or rlx_tensor; nothing if there is no such dtype.
std::optional<DType> dtype_of(uint8_t code, uint8_t bits);

/// The tensors that one call takes or should give, by index; nothing where none is known.
using Tensors = std::vector<std::optional<relax::HostTensor>>;

/// The inputs of one call and, where there are any, the outputs to expect.
struct DataSet {
  std::string name;
  Tensors inputs, expected;
};

/// Reads FILE (.npy, .pb: the next tensor without one), NAME=FILE, an .npz or .safetensors (tensors by name), or a
/// folder of input_K.pb and output_K.pb, which may be split into folders test_data_set_K. Each such folder is a set;
/// all the rest is one. Floats for a tensor that is stored quantized become what they are stored as. Reports files that
/// cannot be read, of another dtype, and what is given twice or for nothing.
Result<std::vector<DataSet>> read_data(const rlx_model& model, const rlx_function& function,
                                       const std::vector<std::string>& inputs, const std::vector<std::string>& expected,
                                       Diagnostics& diag);

/// Fills what `set` has no input for: floats in [-1, 1), bytes over their whole range, other integers 0 or 1, which are
/// indices of almost anything. Open dims are those of given inputs, else the least that their range allows, at least 1.
/// The same seed gives the same numbers on every machine.
void fill_randomly(const rlx_model& model, const rlx_function& function, int64_t seed, DataSet& set);

/// Names of files for tensors of these names, all distinct: what cannot be in one becomes an underscore, and of
/// names that become one the later get a number.
std::vector<std::string> file_stems(const std::vector<std::string>& names);

/// Writes FOLDER/NAME.npy and makes the folder if there is none.
Status write_npy(const std::string& folder, const std::string& name, const relax::HostTensor& tensor,
                 Diagnostics& diag);

}  // namespace relaxc::api
