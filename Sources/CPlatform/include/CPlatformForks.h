#ifndef CPLATFORM_FORKS_H
#define CPLATFORM_FORKS_H

// Forks: what the way of a fork that stays with its thread costs is here. Sources/OperationForks/README.md is
// the protocol.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct cplatform_forks cplatform_forks;

/// The state of a fork that was shown. A fork that was never shown has none: its owner knows by the place of the fork.
typedef enum {
  cplatform_fork_shown = 1,    ///< others may take the fork, or have taken it
  cplatform_fork_done = 2,     ///< the thread that took the fork has run it
  cplatform_fork_awaited = 3,  ///< the owner sleeps until the fork is done
} cplatform_fork_state;

/// One fork: a closure that does not escape, and what others need to know to run it. 64 bytes, a cache line.
typedef struct cplatform_fork {
  void *body;                        ///< the closure's first word: its code
  void *_Nullable context;           ///< the closure's second word
  void *_Nullable launch;            ///< the innermost operation launch of the owner
  cplatform_forks *_Nullable taker;  ///< the list of the thread that runs the fork
  uint64_t scope;                    ///< the outermost join to which the fork belongs
  uint32_t state;                    ///< `cplatform_fork_state`; a futex for the owner
  uint32_t slot;                     ///< where others see the fork
  void *_Nullable home;              ///< the backend whose threads help, and the task (see `ForkMaker`)
  void *_Nullable values;            ///< the newest task-local value where the fork was made (see `cplatform_values`)
} cplatform_fork;

enum {
  cplatform_fork_slots = 8,        ///< forks of one list that others may see at a time
  cplatform_forks_bytes = 1 << 18  ///< the memory of a list, and its alignment
};

/// The forks of one thread. The memory is never given back, so a thread that looks at a list late reads no freed
/// memory.
struct cplatform_forks {
  // The owner's words. Others write `wanted`, and `private_` while they hold the lock of the list.
  cplatform_fork *next;     ///< where the next fork goes; others read it
  cplatform_fork *private_; ///< the oldest fork that was not shown; `next` when there is none; `end` while another thread shows some
  void *_Nullable *_Nonnull values_at;  ///< the word that holds the newest task-local value of the owner's code
  void *_Nullable launch;   ///< the operation launch in which the thread forks
  uint32_t wanted;          ///< `cplatform_forks_wanted`
  uint32_t countdown;       ///< forks until the owner looks at the clock, while `wanted` is `later`
  uint64_t scope;           ///< the outermost join that is under way
  void *_Nullable owner;    ///< the object of the list
  void *_Nullable following;  ///< the next list that no thread has
  cplatform_fork *end;      ///< behind the last place
  void *_Nullable values;     ///< the word of `values_at`, when the owner's code has no task
  uint64_t unused[6];
  // A slot in a cache line of its own: who takes a fork writes its slot.
  struct {
    uintptr_t word;   ///< a fork, and whether a backend has the slot's ticket
    uint64_t scope;   ///< the scope of the fork
    uint64_t unused[6];
  } slots[cplatform_fork_slots];
};

typedef enum {
  cplatform_forks_enough = 0,
  cplatform_forks_more = 1,   ///< the next fork is to be shown
  cplatform_forks_later = 2,  ///< the owner looks at the clock after `countdown` forks
} cplatform_forks_wanted;

/// Makes a list without forks; NULL when there is no memory.
cplatform_forks *_Nullable cplatform_forks_make(void);

/// The list to which a fork belongs.
static inline cplatform_forks *cplatform_forks_of(cplatform_fork *fork) {
  return (cplatform_forks *)((uintptr_t)fork & ~(uintptr_t)(cplatform_forks_bytes - 1));
}

/// Called by the owner: takes the newest fork out of its list.
/// Returns whether the fork is private: nobody else has it, and nobody will.
///
/// The store comes before the load. A thread that shows forks in the owner's place does the two the other way round,
/// with a barrier on all threads in between: so no barrier is needed here.
static inline bool cplatform_fork_pop(cplatform_fork *fork) {
  cplatform_forks *list = cplatform_forks_of(fork);
  __atomic_store_n(&list->next, fork, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return fork >= __atomic_load_n(&list->private_, __ATOMIC_RELAXED);
}

static inline void cplatform_forks_set_next(cplatform_forks *list, cplatform_fork *fork) {
  __atomic_store_n(&list->next, fork, __ATOMIC_RELEASE);
}
static inline cplatform_fork *cplatform_forks_next(cplatform_forks *list) {
  return __atomic_load_n(&list->next, __ATOMIC_ACQUIRE);
}
static inline cplatform_fork *cplatform_forks_private(cplatform_forks *list) {
  return __atomic_load_n(&list->private_, __ATOMIC_RELAXED);
}
static inline void cplatform_forks_set_private(cplatform_forks *list, cplatform_fork *fork) {
  __atomic_store_n(&list->private_, fork, __ATOMIC_RELEASE);
}

/// The owner made a fork, or could have made one. Returns whether it is time to look at the clock.
static inline bool cplatform_forks_count_down(cplatform_forks *list) { return list->countdown-- == 0; }

/// Whether `cplatform_barrier_on_all_threads` works here. The first call of a process with several threads takes some
/// 10 milliseconds. A program that was linked to this library has called it before `main`.
bool cplatform_has_barrier_on_all_threads(void);
/// Every running thread of the process passes a memory barrier while this call lasts. Some microseconds.
/// Returns false when none did, since the process has not asked for barriers.
bool cplatform_barrier_on_all_threads(void);

/// Runs the closure of a fork.
void cplatform_fork_run(cplatform_fork *fork);

/// Calls a Swift closure of one parameter that may throw. `closure` is the address of the closure. A call in Swift
/// would count a reference to what the closure captured. Returns the error, which the caller owns, or NULL.
void *_Nullable cplatform_call(const void *closure, void *argument);

/// Shows forks of the list. Weak, so that this module links alone.
extern void operations_show_forks(cplatform_forks *list) __attribute__((weak));

// --- task-local values: CPlatformValues.c ---

/// What a thread had before a scope, or before a fork that the thread took: where its task-local values stand.
typedef struct {
  void *_Nullable *_Nullable at;      ///< the list's `values_at`
  void *_Nullable newest;             ///< the list's `values`
  void *_Nullable *_Nullable word;    ///< of a thread without a task: where the runtime's variable points
  void *_Nullable *_Nullable filled;  ///< the word of the task, when the task was given other values
  void *_Nullable filled_before;      ///< what that word held
} cplatform_values;

/// Finds out where the runtime keeps task-local values. Called once, before the first scope of the process.
/// `type` is the metadata of a type of one word that needs no destruction. Returns false when the runtime keeps values
/// in another way.
bool cplatform_values_find(const void *type);
/// Whether the calling thread runs a task.
bool cplatform_has_task(void);
/// The newest task-local value of the calling thread; NULL for none.
void *_Nullable cplatform_values_here(void);
/// The calling thread, the list's owner, begins a scope: its values stay, and the list knows from now on where they
/// stand.
cplatform_values cplatform_values_keep(cplatform_forks *list);
/// The calling thread, or the task that it runs, has these values from now on, and no others.
cplatform_values cplatform_values_replace(cplatform_forks *list, void *_Nullable newest);
/// Undoes one of the two, on the same thread and in the same task. What was bound in between is bound no longer.
void cplatform_values_end(cplatform_forks *list, cplatform_values before);

typedef struct {
  uintptr_t key;
  uintptr_t type;
  uintptr_t memory;  ///< the value stands here, or at the next address with the alignment of its type
} cplatform_value;

/// Reads the value of an item, and goes on to the item that was bound before. False when there is none.
bool cplatform_next_value(void *_Nullable *_Nonnull item, cplatform_value *value);

/// Calls `operations_task_cancelled` when the current task is cancelled, or at once when it is cancelled already. The
/// end comes on the same thread, in the same task.
void *cplatform_on_cancel(void *maker);
void cplatform_on_cancel_end(void *record);
/// The core cancels the forks of a scope with their task. Weak, so that this module links alone.
extern void operations_task_cancelled(void *maker) __attribute__((weak));

#define CPLATFORM_ATOMICS(name, type)                                                                       \
  static inline type cplatform_##name##_load(type *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }        \
  static inline type cplatform_##name##_load_relaxed(type *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); } \
  static inline void cplatform_##name##_store(type *word, type value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); } \
  static inline void cplatform_##name##_store_relaxed(type *word, type value) {                                     \
    __atomic_store_n(word, value, __ATOMIC_RELAXED);                                                                \
  }                                                                                                                 \
  static inline type cplatform_##name##_exchange(type *word, type value) {                                          \
    return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                                 \
  static inline bool cplatform_##name##_replace(type *word, type expected, type value) {                            \
    return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);          \
  }
CPLATFORM_ATOMICS(word, uintptr_t)
CPLATFORM_ATOMICS(state, uint32_t)
CPLATFORM_ATOMICS(scope, uint64_t)
#undef CPLATFORM_ATOMICS

static inline uintptr_t *cplatform_forks_slot(cplatform_forks *list, int slot) { return &list->slots[slot].word; }
static inline uint64_t *cplatform_forks_slot_scope(cplatform_forks *list, int slot) { return &list->slots[slot].scope; }
static inline cplatform_forks *_Nullable cplatform_fork_taker(cplatform_fork *fork) {
  return __atomic_load_n(&fork->taker, __ATOMIC_ACQUIRE);
}
static inline void cplatform_fork_set_taker(cplatform_fork *fork, cplatform_forks *_Nullable taker) {
  __atomic_store_n(&fork->taker, taker, __ATOMIC_RELEASE);
}

#pragma clang assume_nonnull end

#endif
