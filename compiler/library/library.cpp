// library.cpp: the functions of relaxc.h. None lets an exception escape, and all check their arguments.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <new>

#include "compiler/api/version.h"
#include "compiler/library/handles.h"
#include "compiler/library/run.h"

namespace {

using relaxc::api::Outputs;
using relaxc::library::Message;

/// Runs `change`, which can only fail for lack of memory, and returns a status.
template <typename F>
int guarded(F change) noexcept {
  try {
    change();
    return RELAXC_OK;
  } catch (...) {
    return RELAXC_NO_MEMORY;
  }
}

/// Returns whether `name` can be a flag; other characters could make one argument look like two.
bool is_option_name(const char* name) {
  auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return *name != '\0' && *name != '-' && std::all_of(name, name + std::strlen(name), fits);
}

/// Copies as many bytes of a record as the caller knows of, except for the first field.
template <typename Record>
int fill(const Record& record, Record* given) {
  if (given == nullptr || given->struct_bytes < sizeof(size_t)) return RELAXC_BAD_ARGUMENT;
  size_t bytes = std::min(given->struct_bytes, sizeof(Record));
  std::memcpy(reinterpret_cast<char*>(given) + sizeof(size_t), reinterpret_cast<const char*>(&record) + sizeof(size_t),
              bytes - sizeof(size_t));
  return RELAXC_OK;
}

int fill(const Message& message, relaxc_diagnostic* given) {
  relaxc_diagnostic record{};
  record.severity = message.severity;
  record.line = message.line, record.column = message.column;
  record.notes = static_cast<uint32_t>(message.notes.size());
  record.kind = message.kind.c_str();
  record.message = message.text.c_str();
  record.file = message.file.c_str();
  record.node = message.node.c_str();
  record.op = message.op.c_str();
  record.opset = message.opset;
  return fill<relaxc_diagnostic>(record, given);
}

relaxc_result* compile(const relaxc_request* request, Outputs::Place place) noexcept {
  auto* result = request == nullptr ? nullptr : new (std::nothrow) relaxc_result;
  if (result == nullptr) return nullptr;
  try {
    relaxc::library::run(*request, place, *result);
  } catch (...) {
    relaxc::library::note_fault(*result);
  }
  return result;
}

}  // namespace

extern "C" {

const char* relaxc_version(void) {
  return relaxc::api::kVersion;
}

const char* relaxc_status_name(int status) {
  switch (status) {
    case RELAXC_OK:
      return "ok";
    case RELAXC_REFUSED:
      return "refused";
    case RELAXC_USAGE:
      return "usage";
    case RELAXC_CANCELLED:
      return "cancelled";
    case RELAXC_NO_MEMORY:
      return "no memory";
    case RELAXC_BAD_ARGUMENT:
      return "bad argument";
    case RELAXC_INTERNAL:
      return "internal error";
    default:
      return "unknown";
  }
}

relaxc_request* relaxc_request_create(void) {
  return new (std::nothrow) relaxc_request;
}

void relaxc_request_destroy(relaxc_request* request) {
  delete request;
}

int relaxc_request_input(relaxc_request* request, const char* path) {
  if (request == nullptr || path == nullptr || *path == '\0') return RELAXC_BAD_ARGUMENT;
  return guarded([&] { request->inputs.emplace_back(path); });
}

int relaxc_request_memory(relaxc_request* request, const char* path, const void* bytes, size_t size) {
  if (request == nullptr || path == nullptr || *path == '\0' || (bytes == nullptr && size != 0))
    return RELAXC_BAD_ARGUMENT;
  return guarded([&] {
    request->memory.push_back(relaxc::relax::memory_file(path, {static_cast<const std::byte*>(bytes), size}));
  });
}

int relaxc_request_option(relaxc_request* request, const char* name, const char* value) {
  if (request == nullptr || name == nullptr || !is_option_name(name)) return RELAXC_BAD_ARGUMENT;
  return guarded([&] {
    bool is_short = name[1] == '\0';
    std::string argument = (is_short ? "-" : "--") + std::string(name);
    if (value != nullptr) argument += (is_short ? "" : "=") + std::string(value);
    request->arguments.push_back(std::move(argument));
  });
}

int relaxc_request_watch(relaxc_request* request, relaxc_watcher watcher, void* user) {
  if (request == nullptr) return RELAXC_BAD_ARGUMENT;
  request->watcher = watcher;
  request->user = user;
  return RELAXC_OK;
}

int relaxc_request_cancel(relaxc_request* request) {
  if (request == nullptr) return RELAXC_BAD_ARGUMENT;
  request->cancelled = true;
  return RELAXC_OK;
}

relaxc_result* relaxc_compile(const relaxc_request* request) {
  return compile(request, Outputs::Place::kMemory);
}

relaxc_result* relaxc_compile_to_files(const relaxc_request* request) {
  return compile(request, Outputs::Place::kFiles);
}

void relaxc_result_destroy(relaxc_result* result) {
  delete result;
}

int relaxc_result_status(const relaxc_result* result) {
  return result == nullptr ? RELAXC_BAD_ARGUMENT : result->status;
}

size_t relaxc_result_files(const relaxc_result* result) {
  return result == nullptr ? 0 : result->files.size();
}

int relaxc_result_file(const relaxc_result* result, size_t index, relaxc_file* file) {
  if (index >= relaxc_result_files(result)) return RELAXC_BAD_ARGUMENT;
  const relaxc::library::File& found = result->files[index];
  std::span<const std::byte> bytes = found.content->bytes();
  const void* begin = bytes.data();
  return fill(relaxc_file{0, found.path.c_str(), begin == nullptr ? "" : begin, bytes.size()}, file);
}

size_t relaxc_result_diagnostics(const relaxc_result* result) {
  return result == nullptr ? 0 : result->messages.size();
}

int relaxc_result_diagnostic(const relaxc_result* result, size_t index, relaxc_diagnostic* diagnostic) {
  if (index >= relaxc_result_diagnostics(result)) return RELAXC_BAD_ARGUMENT;
  return fill(result->messages[index], diagnostic);
}

int relaxc_result_note(const relaxc_result* result, size_t index, size_t note, relaxc_diagnostic* diagnostic) {
  if (index >= relaxc_result_diagnostics(result) || note >= result->messages[index].notes.size())
    return RELAXC_BAD_ARGUMENT;
  return fill(result->messages[index].notes[note], diagnostic);
}

const char* relaxc_result_text(const relaxc_result* result) {
  return result == nullptr ? "" : result->text.c_str();
}

}  // extern "C"
