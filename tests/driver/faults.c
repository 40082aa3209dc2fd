/* faults.c: preloaded before the C library, it lets the Nth call of a function fail.
 *
 * FAULT=name:N:errno says which; with a negative number that call succeeds, and the signal of that number arrives
 * before it. Files that are not of the test (libraries, /proc, /dev) are let through.
 *
 * SWAP=name and SWAP_TO=path: when a file whose path ends in that name is opened to be read, it becomes a link there.
 * NO_OPENAT2: as on a kernel without openat2.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int regular(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static int fails(const char* name) {
  static int left = -1;
  const char* fault = getenv("FAULT");
  const size_t length = strlen(name);
  if (fault == NULL || strncmp(fault, name, length) != 0 || fault[length] != ':') return 0;
  char* end = NULL;
  const long number = strtol(fault + length + 1, &end, 10);
  if (left < 0) left = (int)number;
  if (left == 0 || --left != 0) return 0;
  const int what = atoi(end + 1);
  const char* mark = getenv("FAULT_MARK");
  if (mark != NULL) (void)symlink("hit", mark);
  if (what < 0) {
    kill(getpid(), -what);
    return 0;
  }
  errno = what;
  return 1;
}

#define NEXT(type, name, ...)       \
  static type (*next)(__VA_ARGS__); \
  if (next == NULL) next = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void* data, size_t size) {
  NEXT(ssize_t, write, int, const void*, size_t);
  return regular(fd) && fails("write") ? -1 : next(fd, data, size);
}
ssize_t writev(int fd, const struct iovec* list, int count) {
  NEXT(ssize_t, writev, int, const struct iovec*, int);
  return regular(fd) && fails("write") ? -1 : next(fd, list, count);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  NEXT(ssize_t, pwrite, int, const void*, size_t, off_t);
  return regular(fd) && fails("write") ? -1 : next(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t at) {
  return pwrite(fd, data, size, at);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  NEXT(int, linkat, int, const char*, int, const char*, int);
  return fails("link") ? -1 : next(from_folder, from, to_folder, to, flags);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  NEXT(int, renameat2, int, const char*, int, const char*, unsigned);
  return fails("rename") ? -1 : next(from_folder, from, to_folder, to, flags);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  NEXT(int, renameat, int, const char*, int, const char*);
  return fails("rename") ? -1 : next(from_folder, from, to_folder, to);
}
int rename(const char* from, const char* to) {
  NEXT(int, rename, const char*, const char*);
  return fails("rename") ? -1 : next(from, to);
}
int truncate(const char* path, off_t size) {
  NEXT(int, truncate, const char*, off_t);
  return fails("truncate") ? -1 : next(path, size);
}
int truncate64(const char* path, off_t size) {
  return truncate(path, size);
}
void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t at) {
  NEXT(void*, mmap, void*, size_t, int, int, int, off_t);
  return fd >= 0 && regular(fd) && fails("map") ? MAP_FAILED : next(address, size, protection, flags, fd, at);
}
void* mmap64(void* address, size_t size, int protection, int flags, int fd, off_t at) {
  return mmap(address, size, protection, flags, fd, at);
}
ssize_t read(int fd, void* data, size_t size) {
  NEXT(ssize_t, read, int, void*, size_t);
  return regular(fd) && fails("read") ? -1 : next(fd, data, size);
}
char* mkdtemp(char* pattern) {
  NEXT(char*, mkdtemp, char*);
  return fails("folder") ? NULL : next(pattern);
}

static int is_tested(int flags) {
  return (flags & (O_WRONLY | O_RDWR)) != 0;
}
static void swap(int folder, const char* path) {
  const char *name = getenv("SWAP"), *to = getenv("SWAP_TO");
  if (name == NULL || to == NULL || strlen(path) < strlen(name)) return;
  if (strcmp(path + strlen(path) - strlen(name), name) != 0) return;
  if (unlinkat(folder, path, 0) == 0) (void)!symlinkat(to, folder, path);
}

#define OPEN(name, folder)                                                    \
  mode_t mode = 0;                                                            \
  if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {                               \
    va_list more;                                                             \
    va_start(more, flags);                                                    \
    mode = va_arg(more, mode_t);                                              \
    va_end(more);                                                             \
  }                                                                           \
  /* Without anonymous files: as on a file system that has none. */           \
  if ((flags & __O_TMPFILE) == __O_TMPFILE && getenv("NO_TMPFILE") != NULL) { \
    errno = EOPNOTSUPP;                                                       \
    return -1;                                                                \
  }                                                                           \
  if (!is_tested(flags)) swap(folder, path);                                  \
  if (is_tested(flags) && fails("open")) return -1

int open(const char* path, int flags, ...) {
  NEXT(int, open, const char*, int, ...);
  OPEN(open, AT_FDCWD);
  return next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  NEXT(int, open64, const char*, int, ...);
  OPEN(open, AT_FDCWD);
  return next(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  NEXT(int, openat, int, const char*, int, ...);
  OPEN(open, folder);
  return next(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  NEXT(int, openat64, int, const char*, int, ...);
  OPEN(open, folder);
  return next(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  NEXT(FILE*, fopen, const char*, const char*);
  return mode[0] != 'r' && fails("open") ? NULL : next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  NEXT(FILE*, fopen64, const char*, const char*);
  return mode[0] != 'r' && fails("open") ? NULL : next(path, mode);
}

/* openat2, for which the C library has no function of its own. */
long syscall(long number, ...) {
  NEXT(long, syscall, long, ...);
  long a[6];
  va_list more;
  va_start(more, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(more, long);
  va_end(more);
  if (number == SYS_openat2 && getenv("NO_OPENAT2") != NULL) {
    errno = ENOSYS;
    return -1;
  }
  if (number == SYS_openat2) swap((int)a[0], (const char*)a[1]);
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
