// tensor_files.h: reads and writes files of tensors, and makes random tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/relax/interpret.h"
#include "compiler/support/result.h"
#include "runtime-lite/include/relax_rt.h"

namespace relaxc::api {

/// Returns the dtype of an rlx_tensor_spec or rlx_tensor; nullopt if there is no such dtype.
std::optional<DType> dtype_of(uint8_t code, uint8_t bits);

/// The inputs or outputs of one call, by index; nullopt for those that are not known.
using Tensors = std::vector<std::optional<relax::HostTensor>>;

/// The inputs of one call and the expected outputs, if any.
struct DataSet {
  std::string name;
  Tensors inputs, expected;
};

/// Reads FILE (.npy, .pb: the next tensor without data), NAME=FILE, an .npz or .safetensors (tensors by name), or a
/// folder of input_K.pb and output_K.pb, which may be divided into folders test_data_set_K. Each such folder is a set;
/// all other files are one set. Floats for a quantized tensor are quantized. Reports files that cannot be read or have
/// another dtype, and tensors that are given twice or do not exist.
Result<std::vector<DataSet>> read_data(const rlx_model& model, const rlx_function& function,
                                       const std::vector<std::string>& inputs, const std::vector<std::string>& expected,
                                       Diagnostics& diag);

/// Fills the inputs that `set` lacks: floats in [-1, 1), bytes over their whole range, other integers 0 or 1, which are
/// valid indices nearly everywhere. Open dims are those of given inputs, else the least that their range allows, at
/// least 1. The same seed gives the same numbers on every machine. Reports an input of more than 4 GB, which a given
/// file can ask for by its shape alone: one without elements has no data.
Status fill_randomly(const rlx_model& model, const rlx_function& function, int64_t seed, DataSet& set,
                     Diagnostics& diag);

/// Returns distinct file names for tensors of these names: characters that a file name cannot have become underscores,
/// and where names coincide the later ones get a number.
std::vector<std::string> file_stems(const std::vector<std::string>& names);

/// Writes FOLDER/NAME.npy; makes the folder if it does not exist.
Status write_npy(const std::string& folder, const std::string& name, const relax::HostTensor& tensor,
                 Diagnostics& diag);

}  // namespace relaxc::api
