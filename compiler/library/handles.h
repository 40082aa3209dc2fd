// handles.h: the structs that the opaque types of relaxc.h point to.
#pragma once

#include <relaxc.h>

#include <atomic>
#include <string>
#include <vector>

#include "compiler/relax/mapped_file.h"

struct relaxc_request {
  std::vector<std::string> inputs;
  std::vector<std::string> arguments;  ///< options in the form of the command line
  relaxc::relax::MemoryFiles memory;
  relaxc_watcher watcher = nullptr;
  void* user = nullptr;
  std::atomic<bool> cancelled{false};
};

namespace relaxc::library {

/// A message with copies of its texts.
struct Message {
  int32_t severity = RELAXC_ERROR;
  uint32_t line = 0, column = 0;
  std::string kind, text, file, node, op;
  int64_t opset = 0;
  std::vector<Message> notes;
};

struct File {
  std::string path;
  relax::FileRef content;
};

}  // namespace relaxc::library

struct relaxc_result {
  int status = RELAXC_INTERNAL;
  std::vector<relaxc::library::File> files;
  std::vector<relaxc::library::Message> messages;
  std::string text;  ///< errors and warnings as the program prints them
};
