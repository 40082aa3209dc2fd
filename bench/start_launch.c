/* start_launch.c: starts a program, waits for it and prints what it took: microseconds of the processor, microseconds
 * that passed, and KiB of memory at most. The standard output of the program is thrown away.
 *
 * A small process does this because Linux counts the memory of the process that forks as the new one's until it is
 * replaced, and because forking a large process takes long. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  long long start = now();
  pid_t process = fork();
  if (process == 0) {
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing < 0 || dup2(nothing, 1) < 0) _exit(126);
    (void)execv(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  struct rusage used;
  if (process < 0 || wait4(process, &status, 0, &used) != process || status != 0) return 1;
  long long passed = now() - start;
  long long cpu =
      (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
  (void)printf("%lld %lld %ld\n", cpu, passed, used.ru_maxrss);
  return 0;
}
