// termination.h: cleans up when the process ends by a signal, a limit or a failed allocation.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace relaxc {

/// Prepares a program; to be called at the start of main. Opens descriptors 0 to 2, so that no file that is opened
/// later gets the number of a closed stderr; makes exceeded file size limits and closed pipes errors of write(); and
/// makes a failed allocation of any thread, or a mapped file that becomes unreadable, end the program by
/// terminate_now(). Without this call no signal is handled: in a library, signals belong to the program.
void prepare_termination();

/// Limits the process and its children: seconds of wall time (0: none) and bytes of private writable memory (0: none;
/// mapped files do not count). An exceeded limit calls terminate_now() with a message that names the flag. Returns
/// false if the system refuses the limit.
bool limit_process(double seconds, uint64_t bytes);

/// Prints "relaxc: error: ", `message` and a newline to stderr, removes the paths of RemoveOnTermination, ends running
/// child programs, and exits without unwinding. Safe in a signal handler.
[[noreturn]] void terminate_now(const char* message, int exit_code = 1) noexcept;

/// Returns the message for a failed allocation; it names the limit if --max-memory was given.
const char* out_of_memory_message() noexcept;

/// While it lives, `path` (a file, or a folder with files but no folders in it) is removed if the process
/// ends by SIGHUP, SIGINT, SIGTERM or terminate_now(), after prepare_termination(). Ignored signals stay
/// ignored.
class RemoveOnTermination {
 public:
  explicit RemoveOnTermination(std::string path);
  ~RemoveOnTermination();
  RemoveOnTermination(const RemoveOnTermination&) = delete;

 private:
  void* slot_;
};

/// While it lives, signals do not interrupt this thread, and their handlers in other threads do not touch its files.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  void* before_;
};

/// Runs a program, which is searched in PATH, with this program's standard streams, and waits for it. Returns true if
/// it exits with 0. It is ended together with this process, under the conditions of RemoveOnTermination.
bool run_program(const std::vector<std::string>& words);

}  // namespace relaxc
