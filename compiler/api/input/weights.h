// weights.h: reads and writes files of weights that the command line or a program names.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/interface/object.h"
#include "compiler/relax/mapped_file.h"
#include "frontends/relax/parser.h"
#include "frontends/weights/weights.h"

namespace relaxc::api {

/// Returns the tensors of all files of --params. Reports a name that is in two of them. `files` receives each file.
Result<frontend::NamedConstants> read_params(const CompileOptions& options, Diagnostics& diag,
                                             std::vector<relax::FileRef>& files);

/// Returns the constants of a program's `relaxc.load_params("file")`; the path is relative to the program's folder and
/// must not leave it. `files` receives the file.
Result<frontend::NumberedConstants> load_params(const CompileOptions& options, const std::string& file, Location where,
                                                Diagnostics& diag, std::vector<relax::FileRef>& files);

/// Returns `metadata = relaxc.load_params("name")`, the first line of a printed module with large constants.
std::string load_params_line(const std::string& name);
/// Writes the constants as a `.safetensors` file that load_params reads. Reports dtypes that the format lacks; `shown`
/// is the path in messages.
Status write_params(const std::vector<relax::ConstantRef>& constants, const std::string& path, const std::string& shown,
                    Diagnostics& diag);

/// Writes the weights after an rlx_weights_header with the object's hash; `shown` is the path in messages.
Status write_weights_file(const interface::Object& object, const std::string& path, const std::string& shown,
                          Diagnostics& diag);

}  // namespace relaxc::api
