#ifndef CPLATFORM_FORKS_H
#define CPLATFORM_FORKS_H

// Forks: what the way of a fork that stays with its thread costs is here. Sources/OperationCore/Forking/README.md is the
// protocol.

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
  void *_Nullable backend;           ///< the box of the backend whose threads help; the scope holds it
  uint64_t unused;
} cplatform_fork;

enum {
  cplatform_fork_slots = 8,        ///< forks of one list that others may see at a time
  cplatform_forks_bytes = 1 << 18  ///< the memory of a list, and its alignment
};

/// The forks of one thread. The memory is never given back, so a thread that looks at a list late reads no freed memory.
struct cplatform_forks {
  // The owner's words. Others write `wanted` alone.
  cplatform_fork *next;     ///< where the next fork goes
  cplatform_fork *private_; ///< the oldest fork that was not shown; `next` when there is none
  cplatform_fork *end;      ///< behind the last place
  void *_Nullable launch;   ///< the operation launch in which the thread forks
  uint32_t wanted;          ///< `cplatform_forks_wanted`
  uint32_t countdown;       ///< forks until the owner looks at the clock, while `wanted` is `later`
  uint64_t scope;           ///< the outermost join that is under way
  void *_Nullable owner;    ///< the object of the list
  void *_Nullable following;  ///< the next list that no thread has
  uint64_t unused[8];
  // A slot in a cache line of its own: who takes a fork writes its slot.
  struct {
    uintptr_t word;   ///< a fork, and whether a backend has the slot's ticket
    uint64_t scope;   ///< the scope of the fork
    uint64_t not_before;  ///< from when on a ticket takes the fork, in ticks
    uint64_t unused[5];
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

/// Called by the owner: whether the fork was not shown. The fork is the newest.
static inline bool cplatform_fork_is_private(cplatform_fork *fork) { return fork >= cplatform_forks_of(fork)->private_; }

/// Called by the owner: takes the newest fork out of its list. The fork is private.
static inline void cplatform_fork_pop(cplatform_fork *fork) { cplatform_forks_of(fork)->next = fork; }

/// Runs the closure of a fork.
void cplatform_fork_run(cplatform_fork *fork);

/// The core shows forks of the list. Weak, so that this module links alone.
extern void operations_show_forks(cplatform_forks *list) __attribute__((weak));

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
static inline uint64_t *cplatform_forks_slot_not_before(cplatform_forks *list, int slot) { return &list->slots[slot].not_before; }
static inline cplatform_forks *_Nullable cplatform_fork_taker(cplatform_fork *fork) {
  return __atomic_load_n(&fork->taker, __ATOMIC_ACQUIRE);
}
static inline void cplatform_fork_set_taker(cplatform_fork *fork, cplatform_forks *_Nullable taker) {
  __atomic_store_n(&fork->taker, taker, __ATOMIC_RELEASE);
}

#pragma clang assume_nonnull end

#endif
