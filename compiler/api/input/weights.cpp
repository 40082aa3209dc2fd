// weights.cpp: reads and writes files of weights that the command line or a program names.
//
// A program names its file of constants explicitly: a file that happens to have a matching name must not change what is
// compiled.
#include "compiler/api/input/weights.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/support/input_file.h"
#include "compiler/support/quote.h"
#include "frontends/weights/bind.h"

namespace relaxc::api {

namespace fs = std::filesystem;

Result<frontend::NamedConstants> read_params(const CompileOptions& options, Diagnostics& diag,
                                             std::vector<relax::FileRef>& files) {
  frontend::NamedConstants all;
  for (const std::string& path : options.params) {
    RELAXC_TRY(relax::FileRef file, relax::open_file(options.memory, path, nullptr, diag));
    RELAXC_TRY(frontend::NamedConstants some, frontend::read_weights(file, nullptr, diag));
    files.push_back(std::move(file));
    for (auto& [name, data] : some)
      if (!all.emplace(name, data).second)
        return diag.error(nullptr, Kind::redefinition, "{}: an earlier --params has '{}' too", path, name);
  }
  return all;
}

Result<frontend::NumberedConstants> load_params(const CompileOptions& options, const std::string& file, Location where,
                                                Diagnostics& diag, std::vector<relax::FileRef>& files) {
  fs::path relative(file);
  bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
  if (file.empty() || file.find('\0') != std::string::npos || relative.is_absolute() || climbs)
    return diag.error(where, Kind::missing_data,
                      "'{}' is not a file in the program's folder; the path must be relative to it, without '..'",
                      file);
  fs::path folder = fs::path(options.input).parent_path();
  std::string path = (folder / relative).string();
  relax::FileRef mapped = relax::find_file(options.memory, path);
  if (mapped == nullptr) {
    RELAXC_TRY(mapped, relax::map_file(InputFile::beneath(folder.string(), file), path, where, diag));
  }
  RELAXC_TRY(frontend::NamedConstants named, frontend::read_weights(mapped, where, diag));
  files.push_back(std::move(mapped));
  RELAXC_TRY(frontend::NumberedConstants numbered, frontend::numbered_constants(named, diag));
  if (numbered.size() != named.size())
    return diag.error(where, Kind::invalid_value, "{}: a program's constants are named relax.expr.Constant[i]", path);
  return numbered;
}

std::string load_params_line(const std::string& name) {
  return "metadata = relaxc.load_params(" + relaxc::quoted(name) + ")\n\n";
}

namespace {

Failure cannot_write(const std::string& shown, Diagnostics& diag) {
  return diag.error(nullptr, Kind::io, "cannot write {}: {}", shown,
                    errno == 0 ? "writing failed" : std::strerror(errno));
}

/// Returns the bytes of an rlx_weights_header. All targets are little-endian.
std::string weights_header(const interface::Object& object) {
  std::string bytes("RLXWGHT\0", 8);
  auto number = [&](uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  };
  number(1, 4);  // RLX_ABI_VERSION
  number(interface::kWeightsHeaderBytes, 4);
  number(interface::weights_file_bytes(object.weights), 8);
  bytes.append(reinterpret_cast<const char*>(object.hash.data()), object.hash.size());
  bytes.resize(interface::kWeightsHeaderBytes);
  return bytes;
}

}  // namespace

Status write_weights_file(const interface::Object& object, const std::string& path, const std::string& shown,
                          Diagnostics& diag) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << weights_header(object);
  object.weights.stream([&](const std::byte* data, size_t size) {
    if (out) out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  });
  out.close();
  if (!out) return cannot_write(shown, diag);
  return Done{};
}

Status write_params(const std::vector<relax::ConstantRef>& constants, const std::string& path, const std::string& shown,
                    Diagnostics& diag) {
  std::vector<std::pair<std::string, relax::ConstantRef>> named;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!frontend::has_safetensors_dtype(constants[i]->dtype()))
      return diag.error(nullptr, Kind::unsupported, "cannot write {}: safetensors has no {}", shown,
                        to_string(constants[i]->dtype()));
    named.emplace_back(fmt::format("relax.expr.Constant[{}]", i), constants[i]);
  }
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << frontend::safetensors_head(named);
  for (const relax::ConstantRef& constant : constants)
    constant->with_bytes([&](std::span<const std::byte> bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    });
  out.close();
  if (!out) return cannot_write(shown, diag);
  return Done{};
}

}  // namespace relaxc::api
