// termination.cpp: signal handlers that call only async-signal-safe functions.
//
// Paths to remove are in a list whose nodes are never freed: a handler may walk it at any time, and takes a path by
// exchanging it with null, so that the path is not freed while it is read. Folders are emptied by system calls, since
// readdir allocates.
//
// Rejected: LLVM's RemoveFileOnSignal, which also handles signals that the parent has ignored (nohup); a thread that
// waits for signals, since child programs would inherit its mask.
#include "compiler/support/termination.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

extern char** environ;

namespace relaxc {
namespace {

struct RemovalSlot {
  std::atomic<char*> path{nullptr};
  std::atomic<bool> taken{false};
  RemovalSlot* next = nullptr;
};

std::atomic<RemovalSlot*> removals{nullptr};
std::atomic<pid_t> child{0};
std::atomic<bool> starts_child{false};  ///< a child is being started and `child` is not set yet
std::atomic<bool> prepared{false};      ///< the process is a program of ours, whose signals we may handle
char memory_message[160] = "out of memory";
char time_message[160] = "";

struct LinuxDirent {
  uint64_t ino;
  int64_t off;
  uint16_t length;
  uint8_t type;
  char name[1];
};

/// Removes the files in a folder, but not its subfolders.
void empty_folder(const char* path) {
  int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  alignas(LinuxDirent) char buffer[4096];
  for (long got; (got = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;)
    for (long at = 0; at < got;) {
      auto* entry = reinterpret_cast<LinuxDirent*>(buffer + at);
      ::unlinkat(folder, entry->name, 0);
      at += entry->length;
    }
  ::close(folder);
}

void remove_all() {
  // Signals are blocked in the thread that starts a child, so this handler never waits for its own thread.
  while (starts_child) {
    timespec soon{0, 1000000};
    ::nanosleep(&soon, nullptr);
  }
  if (pid_t running = child.load(); running > 0) ::kill(running, SIGKILL);
  for (RemovalSlot* slot = removals.load(); slot != nullptr; slot = slot->next) {
    char* path = slot->path.exchange(nullptr);
    if (path == nullptr || ::unlink(path) == 0) continue;
    empty_folder(path);
    ::rmdir(path);
  }
}

void write_all(const char* text) {
  size_t left = std::strlen(text);
  while (left != 0) {
    ssize_t written = ::write(STDERR_FILENO, text, left);
    if (written <= 0) return;  // there is nowhere to report it
    text += written;
    left -= static_cast<size_t>(written);
  }
}

void on_signal(int number) {
  int before = errno;
  remove_all();
  ::signal(number, SIG_DFL);
  sigset_t self;
  ::sigemptyset(&self);
  ::sigaddset(&self, number);
  ::pthread_sigmask(SIG_UNBLOCK, &self, nullptr);
  ::raise(number);
  errno = before;
}

void on_alarm(int) {
  terminate_now(time_message);
}

void on_bus_error(int number, siginfo_t* info, void*) {
  if (info->si_code == BUS_ADRERR)
    terminate_now("a file that is being read cannot be read any more: it was cut, or its disk has failed");
  ::signal(number, SIG_DFL);  // a bug in relaxc: the access is repeated and ends the process
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigfillset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

/// Handles HUP, INT and TERM, except where the process ignores or handles them already.
void handle_ends() {
  for (int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction now {};
    if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) handle(number, on_signal);
  }
}

void handle_ends_once() {
  static std::once_flag once;
  if (prepared) std::call_once(once, handle_ends);
}

RemovalSlot* add_removal(char* path) {
  handle_ends_once();
  for (RemovalSlot* slot = removals.load(); slot != nullptr; slot = slot->next)
    if (!slot->taken.exchange(true)) {
      slot->path = path;
      return slot;
    }
  auto* slot = new RemovalSlot;
  slot->taken = true;
  slot->path = path;
  slot->next = removals.load();
  while (!removals.compare_exchange_weak(slot->next, slot)) {
  }
  return slot;
}

}  // namespace

void terminate_now(const char* message, int exit_code) noexcept {
  remove_all();
  write_all("relaxc: error: ");
  write_all(message);
  write_all("\n");
  ::_exit(exit_code);
}

const char* out_of_memory_message() noexcept {
  return memory_message;
}

void prepare_termination() {
  prepared = true;
  // Standard streams that the parent closed are opened so that using them fails, and no other file gets their numbers.
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  ::signal(SIGXFSZ, SIG_IGN);
  struct sigaction bus {};
  bus.sa_sigaction = on_bus_error;
  bus.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &bus, nullptr);
  std::set_new_handler([] { terminate_now(memory_message); });
}

bool limit_process(double seconds, uint64_t bytes) {
  if (bytes != 0) {
    std::string text = "out of memory: --max-memory=" + std::to_string(bytes) +
                       " bytes are not enough for this program; give more, or a smaller model";
    std::strncpy(memory_message, text.c_str(), sizeof memory_message - 1);
    rlimit limit{};
    if (::getrlimit(RLIMIT_DATA, &limit) != 0) return false;
    limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
    limit.rlim_max = limit.rlim_cur;
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) return false;
  }
  if (seconds <= 0) return true;
  std::string shown = std::to_string(seconds);
  shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.back() == '.') shown.pop_back();
  std::string text = "--time-limit=" + shown + ": not done within " + shown + " s; nothing more is written";
  std::strncpy(time_message, text.c_str(), sizeof time_message - 1);
  handle(SIGALRM, on_alarm);
  sigset_t alarm;
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  return ::setitimer(ITIMER_REAL, &timer, nullptr) == 0;
}

RemoveOnTermination::RemoveOnTermination(std::string path) {
  char* copy = static_cast<char*>(std::malloc(path.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, path.c_str(), path.size() + 1);
  slot_ = add_removal(copy);
}

RemoveOnTermination::~RemoveOnTermination() {
  auto* slot = static_cast<RemovalSlot*>(slot_);
  char* path = slot->path.exchange(nullptr);
  std::free(path);  // null if a signal handler has taken the path
  slot->taken = false;
}

SignalsBlocked::SignalsBlocked() : before_(new sigset_t) {
  sigset_t all;
  ::sigfillset(&all);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigdelset(&all, number);
  ::pthread_sigmask(SIG_BLOCK, &all, static_cast<sigset_t*>(before_));
}

SignalsBlocked::~SignalsBlocked() {
  auto* before = static_cast<sigset_t*>(before_);
  ::pthread_sigmask(SIG_SETMASK, before, nullptr);
  delete before;
}

namespace {

/// Starts the program and returns whether that worked. Signals are blocked until `child` is set, also ones that the
/// program itself sends to this process, so that their handler can end the program.
bool start(std::vector<char*>& arguments, pid_t& started) {
  sigset_t ends, before;
  ::sigemptyset(&ends);
  for (int number : {SIGHUP, SIGINT, SIGTERM, SIGALRM}) ::sigaddset(&ends, number);
  posix_spawnattr_t attributes;
  if (::posix_spawnattr_init(&attributes) != 0) return false;
  ::pthread_sigmask(SIG_BLOCK, &ends, &before);
  starts_child = true;
  ::posix_spawnattr_setsigmask(&attributes, &before);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const bool done = ::posix_spawnp(&started, arguments[0], nullptr, &attributes, arguments.data(), environ) == 0;
  if (done) child = started;
  starts_child = false;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::posix_spawnattr_destroy(&attributes);
  return done;
}

}  // namespace

bool run_program(const std::vector<std::string>& words) {
  handle_ends_once();
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t started = 0;
  if (!start(arguments, started)) return false;
  int status = 0;
  pid_t ended;
  do ended = ::waitpid(started, &status, 0);
  while (ended < 0 && errno == EINTR);
  child = 0;
  return ended == started && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace relaxc
