#define _GNU_SOURCE
#include "CVirtualTime.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int (*clock_function)(clockid_t, struct timespec *);

static clock_function system_clock;
static _Thread_local cvirtual_time *shown;

__attribute__((constructor)) static void find_system_clock(void) {
  __atomic_store_n(&system_clock, (clock_function)dlsym(RTLD_NEXT, "clock_gettime"), __ATOMIC_RELAXED);
}

/// Of DeterministicOperations, which alone uses this target.
extern void operations_claim_tasks(void);
__attribute__((constructor)) static void claim_tasks(void) { operations_claim_tasks(); }

/// What clock_gettime does in other programs. `CPlatform` looks for this function.
int cplatform_real_clock_gettime(clockid_t clock, struct timespec *time) {
  const clock_function system = __atomic_load_n(&system_clock, __ATOMIC_RELAXED);
  // Before the constructor has run, and in a program without a dynamic loader.
  return system ? system(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  const cvirtual_time *here = shown;
  if (!here) return cplatform_real_clock_gettime(clock, time);
  int64_t start;
  switch (clock) {
  case CLOCK_MONOTONIC: start = here->monotonic; break;
  case CLOCK_BOOTTIME: start = here->boot; break;
  case CLOCK_REALTIME: start = here->real; break;
  default: return cplatform_real_clock_gettime(clock, time);
  }
  const int64_t now = start + __atomic_load_n(&here->passed, __ATOMIC_RELAXED);
  time->tv_sec = now / 1000000000;
  time->tv_nsec = now % 1000000000;
  return 0;
}

static int64_t real_time(clockid_t clock) {
  struct timespec now;
  cplatform_real_clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

cvirtual_time *cvirtual_time_make(void) {
  cvirtual_time *time = malloc(sizeof *time);
  if (!time) abort();
  *time = (cvirtual_time){
      .monotonic = real_time(CLOCK_MONOTONIC), .boot = real_time(CLOCK_BOOTTIME), .real = real_time(CLOCK_REALTIME)};
  return time;
}

void cvirtual_time_free(cvirtual_time *time) { free(time); }

void cvirtual_time_set(cvirtual_time *time, int64_t passed) {
  __atomic_store_n(&time->passed, passed, __ATOMIC_RELAXED);
}

cvirtual_time *cvirtual_time_show(cvirtual_time *time) {
  cvirtual_time *before = shown;
  shown = time;
  return before;
}
