// The system's calls that everything uses: the futex, memory, clocks, and a line on standard error.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

_Thread_local cplatform_thread_words cplatform_words = {.forks_launch = cplatform_no_launch};

int cplatform_futex_wait(uint32_t *word, uint32_t expected, int64_t timeout_ns) {
  if (timeout_ns < 0) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
    return 0;
  }
  const uint64_t start = cplatform_now_ns();
  int64_t left = timeout_ns;
  while (true) {
    struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &timeout, NULL, 0) == 0) return 0;
    if (errno != EINTR) return errno == ETIMEDOUT;
    // A profiler may send signals faster than the time passes: the time must not begin anew with each.
    left = timeout_ns - (int64_t)(cplatform_now_ns() - start);
    if (left <= 0) return 1;
  }
}

void cplatform_futex_wake(uint32_t *word, int32_t count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void *cplatform_allocate(size_t size) {
  void *memory = malloc(size);
  if (!memory) abort();
  return memory;
}
void cplatform_free(void *memory) { free(memory); }

void cplatform_yield(void) { sched_yield(); }

// In a program that tests, clock_gettime may show a virtual time. What this library waits for is real.
extern int cplatform_real_clock_gettime(clockid_t clock, struct timespec *time) __attribute__((weak));

uint64_t cplatform_now_ns(void) {
  struct timespec now;
  if (cplatform_real_clock_gettime) {
    cplatform_real_clock_gettime(CLOCK_MONOTONIC, &now);
  } else {
    clock_gettime(CLOCK_MONOTONIC, &now);
  }
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t cplatform_coarse_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// Reads the counter and the clock at one moment, as nearly as a thread can that may lose its CPU in between.
static void read_both(uint64_t *ticks, uint64_t *ns) {
  uint64_t best = UINT64_MAX;
  for (int attempt = 0; attempt < 5; attempt++) {
    uint64_t before = cplatform_ticks(), now = cplatform_now_ns(), after = cplatform_ticks();
    if (after - before >= best) continue;
    best = after - before;
    *ticks = before;
    *ns = now;
  }
}

uint64_t cplatform_known_ticks;

uint64_t cplatform_measure_ticks(void) {
  uint64_t ticks, ns, end_ticks, end_ns;
  read_both(&ticks, &ns);
  while (cplatform_now_ns() - ns < 20000) cplatform_pause();
  read_both(&end_ticks, &end_ns);
  uint64_t ratio = (end_ticks - ticks) * 1000 / (end_ns - ns);
  if (ratio == 0) ratio = 1;
  __atomic_store_n(&cplatform_known_ticks, ratio, __ATOMIC_RELAXED);
  return ratio;
}

static bool reuses_memory = true;

static void find_reuse(void) {
  const char *value = secure_getenv("OPERATIONS_REUSE");
  if (!value || !*value || strcmp(value, "on") == 0) return;
  if (strcmp(value, "off") == 0)
    reuses_memory = false;
  else
    cplatform_print_error("Operations: OPERATIONS_REUSE is neither on nor off: memory is used again");
}

bool cplatform_reuses_memory(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_reuse);
  return reuses_memory;
}

void cplatform_print_error(const char *message) {
  struct iovec parts[2] = {{(void *)message, strlen(message)}, {(void *)"\n", 1}};
  ssize_t ignored = writev(STDERR_FILENO, parts, 2);
  (void)ignored;
}
