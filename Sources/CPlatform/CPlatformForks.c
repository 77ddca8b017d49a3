#include "CPlatform.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SWIFTCALL __attribute__((swiftcall))
#define CONTEXT __attribute__((swift_context))
#define SELDOM(condition) __builtin_expect(!!(condition), 0)

_Static_assert(sizeof(cplatform_fork) == 64, "a fork is a cache line");
_Static_assert(offsetof(cplatform_forks, slots) == 128, "the slots begin with a cache line");

cplatform_forks *cplatform_forks_make(void) {
  cplatform_forks *list = aligned_alloc(cplatform_forks_bytes, cplatform_forks_bytes);
  if (!list) return NULL;
  memset(list, 0, sizeof *list);
  // The first place is behind the list's own words, at the next cache line.
  list->next = list->private_ = (cplatform_fork *)(list + 1);
  list->end = (cplatform_fork *)((char *)list + cplatform_forks_bytes);
  list->values_at = &list->values;
  return list;
}

/// Called at the end of `cplatform_fork_push`, with parameters of the same kinds, so that it is a jump:
/// `cplatform_fork_push` saves no registers.
SWIFTCALL __attribute__((noinline)) static cplatform_fork *show(void *new, void *unused) {
  (void)unused;
  cplatform_fork *fork = new;
  cplatform_forks *list = cplatform_forks_of(fork);
  if (cplatform_state_load_relaxed(&list->wanted) == cplatform_forks_more || cplatform_forks_count_down(list)) operations_show_forks(list);
  return fork;
}

/// Adds a fork to the calling thread's list. Swift passes a closure that does not escape as its two words, the code and
/// the context, and declares this function with `@_silgen_name`. The test `ClosureWordsTests` fails when Swift passes
/// closures in another way.
///
/// Returns NULL when the thread has no list in this launch, or when the list is full.
SWIFTCALL cplatform_fork *cplatform_fork_push(void *body, void *context);
SWIFTCALL cplatform_fork *cplatform_fork_push(void *body, void *context) {
  if (SELDOM(cplatform_words.forks_launch != cplatform_words.frame)) return NULL;
  cplatform_forks *list = cplatform_words.forks;
  cplatform_fork *fork = list->next;
  // Behind the last place of the list, which is aligned to its size.
  if (SELDOM(((uintptr_t)fork & (cplatform_forks_bytes - 1)) == 0)) return NULL;
  fork->body = body;
  fork->context = context;
  fork->values = *list->values_at;
  __atomic_store_n(&list->next, fork + 1, __ATOMIC_RELEASE);
  if (SELDOM(cplatform_state_load_relaxed(&list->wanted))) __attribute__((musttail)) return show(fork, context);
  return fork;
}

/// A process asks the kernel for barriers once. With several threads that takes some 10 milliseconds, in which the
/// first fork would wait: the kernel waits for each of its CPUs. With one thread it takes a microsecond. A program that
/// loads the library when it has several threads waits then.
__attribute__((constructor)) static void register_barrier_before_threads(void) {
  (void)cplatform_has_barrier_on_all_threads();
}

bool cplatform_has_barrier_on_all_threads(void) {
  enum { unknown, yes, no };
  static int known;
  int state = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (state == unknown) {
    state = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 ? yes : no;
    __atomic_store_n(&known, state, __ATOMIC_RELAXED);
  }
  return state == yes;
}

bool cplatform_barrier_on_all_threads(void) {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/// Makes a fork of a closure, for a fork that is in no list. Declared in Swift as `cplatform_fork_push` is.
SWIFTCALL void cplatform_fork_fill(cplatform_fork *fork, void *body, void *context);
SWIFTCALL void cplatform_fork_fill(cplatform_fork *fork, void *body, void *context) {
  memset(fork, 0, sizeof *fork);
  fork->body = body;
  fork->context = context;
  fork->state = cplatform_fork_shown;
}

void *cplatform_call(const void *closure, void *argument) {
  void *const *words = closure;
  void *error = NULL;
  ((SWIFTCALL void (*)(void *, CONTEXT void *, __attribute__((swift_error_result)) void **))words[0])(argument, words[1],
                                                                                                    &error);
  return error;
}

void cplatform_fork_run(cplatform_fork *fork) {
  // A closure without a context may have any word there.
  ((SWIFTCALL void (*)(CONTEXT void *))fork->body)(fork->context);
}
