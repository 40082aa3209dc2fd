// isolated.cpp: fork, limits, a pipe for the answer.
#include "tests/property/isolated.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "compiler/support/check.h"

namespace relaxc::property {
namespace {

[[noreturn]] void child(int out, const std::function<std::string()>& function, unsigned seconds, size_t megabytes) {
  rlimit memory{megabytes << 20, megabytes << 20}, core{0, 0}, cpu{seconds, seconds + 5};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  setrlimit(RLIMIT_CPU, &cpu);  // what a busy machine does not use up
  alarm(seconds * 10);
  int status = 0;
  try {
    std::string text = function();
    for (size_t at = 0; at < text.size();) {
      ssize_t count = write(out, text.data() + at, text.size() - at);
      if (count <= 0) break;
      at += static_cast<size_t>(count);
    }
  } catch (const std::exception& error) {
    std::string text = std::string("an exception leaves: ") + error.what();
    status = write(out, text.data(), text.size()) > 0 ? 1 : 2;
  }
  close(out);
  _exit(status);
}

}  // namespace

Ended run_isolated(const std::function<std::string()>& function, unsigned seconds, size_t megabytes) {
  int ends[2];
  RELAXC_CHECK(pipe(ends) == 0, "no pipe");
  pid_t pid = fork();
  RELAXC_CHECK(pid >= 0, "no process");
  if (pid == 0) {
    close(ends[0]);
    child(ends[1], function, seconds, megabytes);
  }
  close(ends[1]);
  Ended ended;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    ended.output.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) {
    bool late = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU;
    ended.how = late ? Ended::kTimedOut : Ended::kCrashed;
    ended.output = strsignal(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    ended.how = Ended::kCrashed;
  }
  return ended;
}

}  // namespace relaxc::property
