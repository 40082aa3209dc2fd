// termination.h: what must be done whichever way the process ends: by a signal, a limit or a failed allocation.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace relaxc {

/// Prepares a program, at the start of main: descriptors 0 to 2 are open, so that no file that is opened later takes
/// the place of a closed stderr; a file that may not grow and a reader that has gone are errors of write(); a failed
/// allocation of any thread, and a mapped file that cannot be read any more, end the program by terminate_now().
/// Without it no signal is handled: they belong to the program that a library is in.
void prepare_termination();

/// Limits of the process and of what it starts: seconds of the clock (0: none) and bytes of private memory that can be
/// written (0: none; mapped files do not count). Beyond them terminate_now() is called with a message that names the
/// flag. False if the system refuses the limit.
bool limit_process(double seconds, uint64_t bytes);

/// Writes "relaxc: error: ", `message` and a newline to stderr, removes what RemoveOnTermination names, ends the
/// programs that are being run, and exits without unwinding. Safe in a signal handler.
[[noreturn]] void terminate_now(const char* message, int exit_code = 1) noexcept;

/// The message of a failed allocation; it says which limit was reached if --max-memory was given.
const char* out_of_memory_message() noexcept;

/// While it lives, `path` (a file, or a folder with files and no folders in it) is removed if the process ends by
/// SIGHUP, SIGINT, SIGTERM or terminate_now(), if it has called prepare_termination(). Signals that are ignored stay
/// ignored.
class RemoveOnTermination {
 public:
  explicit RemoveOnTermination(std::string path);
  ~RemoveOnTermination();
  RemoveOnTermination(const RemoveOnTermination&) = delete;

 private:
  void* slot_;
};

/// While it lives, no signal interrupts this thread, and the others leave the files alone that it works on.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  void* before_;
};

/// Runs a program that is looked for in PATH, with this program's standard streams, and waits for it. True if it ends
/// with 0. The program is ended with this process, as RemoveOnTermination removes.
bool run_program(const std::vector<std::string>& words);

}  // namespace relaxc
