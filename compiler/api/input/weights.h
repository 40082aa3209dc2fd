// weights.h: files of weights that the command line or a program names.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/interface/object.h"
#include "compiler/relax/mapped_file.h"
#include "frontends/relax/parser.h"
#include "frontends/weights/weights.h"

namespace relaxc::api {

/// The tensors of all files of --params. Reports a name that two of them have. `files` receives each file.
Result<frontend::NamedConstants> read_params(const CompileOptions& options, Diagnostics& diag,
                                             std::vector<relax::FileRef>& files);

/// The constants that a program's `relaxc.load_params("file")` names; the path is relative to the program's folder and
/// stays in it. `files` receives the file.
Result<frontend::NumberedConstants> load_params(const CompileOptions& options, const std::string& file, Location where,
                                                Diagnostics& diag, std::vector<relax::FileRef>& files);

/// `metadata = relaxc.load_params("name")`, which a printed module with large constants begins with.
std::string load_params_line(const std::string& name);
/// Writes the constants as a `.safetensors` file that load_params reads. Reports what has no dtype there; `shown` is
/// the path for messages.
Status write_params(const std::vector<relax::ConstantRef>& constants, const std::string& path, const std::string& shown,
                    Diagnostics& diag);

/// Writes the weights behind an rlx_weights_header that carries the object's hash; `shown` is the path for messages.
Status write_weights_file(const interface::Object& object, const std::string& path, const std::string& shown,
                          Diagnostics& diag);

}  // namespace relaxc::api
