// names.h: names of loops, blocks and buffers in the steps of a trace.
//
// A loop has the name of its variable, a block and a buffer their own; of several with the same name the second in the
// order of the program is "i#2". A lookup of a name that does not exist is illegal.
#pragma once

#include <string_view>

#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

std::string loop_name(const Tree& tree, uint32_t id);
std::string loop_names(const Tree& tree, const std::vector<uint32_t>& ids);
std::string block_name(const Tree& tree, uint32_t id);
std::string buffer_name(const Tree& tree, BufferRef buffer);
Legal<uint32_t> loop_named(const Tree& tree, std::string_view name);
Legal<uint32_t> block_named(const Tree& tree, std::string_view name);
Legal<BufferRef> buffer_named(const Tree& tree, std::string_view name);

/// The same among all blocks of the section, else of the kernel, whatever is in focus.
std::string name_of_kernel_block(const Tree& tree, uint32_t id);
Legal<uint32_t> kernel_block_named(const Tree& tree, std::string_view name);

/// A name as a step prints it: in quotes, unless it consists of letters, digits, underscores and dots.
std::string spelled(std::string_view name);

}  // namespace relaxc::schedule
