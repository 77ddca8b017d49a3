#ifndef CPLATFORM_H
#define CPLATFORM_H

// What Swift cannot say: system calls without a wrapper, thread-local words, weak link-time hooks.

// Sources/Primitives/Platform.swift says the same to Swift.
#if !defined(__linux__) || defined(__ANDROID__)
#error "Operations is for Linux (it needs futexes and /proc); on other systems use Foundation's OperationQueue"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CPlatformForks.h"

#pragma clang assume_nonnull begin

// --- futex ---------------------------------------------------------------------------------------------------------

/// Sleeps while `*word == expected`. `timeout_ns < 0` means for ever. Returns 0 when woken (or the value differed or a
/// signal came), 1 on time-out. Spurious returns are possible: callers re-check.
int cplatform_futex_wait(uint32_t *word, uint32_t expected, int64_t timeout_ns);
/// Wakes up to `count` threads that sleep on `word`. `word` is only an address: the memory at `word` need not be
/// readable any more.
void cplatform_futex_wake(uint32_t *word, int32_t count);

// --- processor -----------------------------------------------------------------------------------------------------

static inline void cplatform_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}
void cplatform_yield(void);
/// CLOCK_MONOTONIC in nanoseconds.
uint64_t cplatform_now_ns(void);
/// CLOCK_MONOTONIC at its last tick, some milliseconds ago: a few nanoseconds to read.
uint64_t cplatform_coarse_now_ns(void);
/// A counter of the processor that grows evenly: some 10 nanoseconds to read.
static inline uint64_t cplatform_ticks(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return cplatform_now_ns();
#endif
}
/// 0 until somebody has measured.
extern uint64_t cplatform_known_ticks;
uint64_t cplatform_measure_ticks(void);
/// How many ticks a microsecond has. The first call takes 20 microseconds, to find out.
static inline uint64_t cplatform_ticks_per_microsecond(void) {
  const uint64_t known = __atomic_load_n(&cplatform_known_ticks, __ATOMIC_RELAXED);
  return known ? known : cplatform_measure_ticks();
}
/// Number of CPUs in the main thread's affinity mask, which is the process's; at least 1.
int32_t cplatform_affinity_count(void);

// --- memory --------------------------------------------------------------------------------------------------------

/// Calls malloc, because Swift's own raw allocation asks for an alignment, and with glibc that is the slower way.
/// Ends the program when there is no memory.
void *cplatform_allocate(size_t size);
/// Calls free.
void cplatform_free(void *memory);

// --- threads -------------------------------------------------------------------------------------------------------

/// Starts a detached thread. The thread has the CPUs, the scheduling policy and the nice value of the main thread, not
/// those of the calling thread. All signals are blocked on the thread, except those that a fault of its own raises
/// (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS), SIGPROF and SIGPIPE: crash handlers, crash reporters
/// and profilers see the thread. Returns 0 or an errno value.
int cplatform_thread_start(void (*body)(void *_Nullable), void *_Nullable context, size_t stack_bytes);
/// For a thread that others started: gives it the main thread's CPUs, scheduling policy and nice value, as far as the
/// system permits. Does nothing when called a second time on a thread.
void cplatform_join_process(void);
/// Calls `body`. When `body` ends the thread instead of returning, `operations_thread_left` is called.
void cplatform_call_to_its_end(void (*body)(void *_Nullable), void *_Nullable context);
int32_t cplatform_thread_id(void);
int32_t cplatform_process_id(void);
bool cplatform_is_main_thread(void);
/// The bytes of the calling thread's stack, and how many of them are still free; a large number for both where the
/// system does not tell.
size_t cplatform_stack_size(void);
size_t cplatform_stack_left(void);
/// Names the calling thread; the kernel keeps 15 bytes.
void cplatform_thread_set_name(const char *name);
/// Writes the calling thread's name, at most 15 bytes and a zero, into `name`.
void cplatform_thread_get_name(char name[_Nonnull 16]);
/// What a look at a thread of this process shows.
typedef enum {
  cplatform_thread_runs = 0,    ///< it runs, waits for a CPU, or has ended
  cplatform_thread_sleeps = 1,  ///< it sleeps in the kernel (state S or D)
  cplatform_thread_hidden = 2   ///< it is there, and /proc cannot be read: no descriptor is left, or after chroot
} cplatform_thread_sight;
/// Looks at the thread's state in /proc. The first look at a hidden thread prints one line to stderr.
cplatform_thread_sight cplatform_thread_look(int32_t thread_id);
/// How much CPU time the thread has used, in nanoseconds; 0 for a thread that has ended. Needs neither /proc nor a
/// descriptor.
uint64_t cplatform_thread_cpu_ns(int32_t thread_id);
/// How many threads of the machine run or wait for a CPU, of any process, beside the calling one. 0 where
/// /proc/loadavg does not say.
long cplatform_running_threads(void);
/// Whether there are as many of them as CPUs.
bool cplatform_cpus_are_taken(void);
/// What the thread waits in, as the kernel says: the name of a kernel function, or else the letter of the thread's
/// state, or that /proc cannot be read. Writes at most `size` bytes, the zero included.
void cplatform_thread_kernel_word(int32_t thread_id, char *word, size_t size);
/// Scheduling priority (nice) of the calling thread.
int32_t cplatform_thread_nice(void);
/// Sets the nice value of the calling thread; false when the system does not permit the change.
bool cplatform_thread_set_nice(int32_t nice);
/// Whether this process may lower a nice value that it has raised.
bool cplatform_may_restore_nice(void);

// --- thread-local words ----------------------------------------------------------------------------------------------

/// Memory of one kind that a thread keeps to use again (see `Spares`).
typedef struct {
  uintptr_t loaded;  ///< the first piece of the magazine in use, or 0
  uintptr_t full;    ///< a second magazine, full, or 0
  uint32_t count;    ///< pieces in `loaded`
} cplatform_magazines;

/// The words take two instructions to read in a program, because the library is linked statically into whatever uses
/// it. What every operation reads comes first: `spare_operations` ends with the first 64 bytes.
typedef struct {
  void *_Nullable worker;  ///< the pool worker that owns this thread, if any (set by a backend)
  void *_Nullable frame;   ///< the innermost operation launch on this thread (set by the operation core)
  void *_Nullable pending_handover;  ///< what a wait on this thread hands over first (see `Handover`)
  void *_Nullable owed_queue;  ///< the queue to which this thread owes references (see `OwedReferences`)
  uint64_t unshared_counts;  ///< reference counts of an object that nobody else knows; 0: not looked up yet
  cplatform_magazines spare_operations;
  cplatform_magazines spare_chunks;
  cplatform_magazines spare_task_jobs;
  void *_Nullable trace_buffer;  ///< this thread's buffer of events; NULL before its first event (see `TraceBuffer`)
  void *_Nullable cancel_round;  ///< the innermost `cancelAllOperations` on this thread (see `CancelRound`)
  void *_Nullable question;  ///< the innermost question to a subclass on this thread (see `Question`)
  cplatform_forks *_Nullable forks;  ///< the list of the join that is under way on this thread (see `ForkScope`)
  void *_Nullable forks_launch;  ///< the list's `launch`; no launch at all (`cplatform_no_launch`) without a list
  cplatform_forks *_Nullable kept_forks;  ///< a list for this thread's next join
  void *_Nullable task_slot;  ///< where a job of a task on this thread leaves the thread's next job (see `TaskSlot`)
  void *_Nullable long_chain;  ///< what this thread does one inside of the other (see `LongChain`)
  uint32_t owed_count;
  bool may_owe;  ///< this thread settles the references that it owes before it sleeps
  bool returns_spares;  ///< the memory that this thread keeps is released when the thread ends
} cplatform_thread_words;

/// The address of no launch frame: a thread without a list is told by the one comparison that tells another launch.
#define cplatform_no_launch ((void *)1)

extern _Thread_local cplatform_thread_words cplatform_words __attribute__((tls_model("initial-exec")));

/// A function of the Swift runtime: takes `count` references to an object with one atomic addition.
void *swift_retain_n(void *object, uint32_t count);
/// A function of the Swift runtime: gives back `count` references to an object with one atomic subtraction.
void swift_release_n(void *object, uint32_t count);

/// The owner whose body `cplatform_at_thread_exit` keeps.
typedef enum { cplatform_spares_owner = 0, cplatform_trace_owner = 1, cplatform_forks_owner = 2 } cplatform_exit_owner;
/// Calls `body` once when the calling thread ends; one body per owner for the whole program.
/// Returns false when nothing will call `body`: other code of the process has taken all thread keys, or memory is out.
bool cplatform_at_thread_exit(cplatform_exit_owner owner, void (*body)(void));

/// Fetches the cache line of an address that this thread is about to write. Never faults.
static inline void cplatform_prefetch(uintptr_t address) {
#if defined(__x86_64__)
  // The compiler's builtin fetches the line for reading alone when it does not know the processor. The write then asks
  // the line's owner a second time. A processor without the instruction ignores it.
  __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
  __builtin_prefetch((const void *)address, 1, 3);
#endif
}

/// An address that tells threads apart.
static inline cplatform_thread_words *cplatform_thread_words_address(void) { return &cplatform_words; }
static inline cplatform_magazines *cplatform_spare_operations(cplatform_thread_words *words) {
  return &words->spare_operations;
}
static inline cplatform_magazines *cplatform_spare_chunks(cplatform_thread_words *words) { return &words->spare_chunks; }
static inline cplatform_magazines *cplatform_spare_task_jobs(cplatform_thread_words *words) {
  return &words->spare_task_jobs;
}
static inline void *_Nullable cplatform_worker(void) { return cplatform_words.worker; }
static inline void cplatform_set_worker(void *_Nullable worker) { cplatform_words.worker = worker; }
static inline void *_Nullable cplatform_frame(void) { return cplatform_words.frame; }
static inline void cplatform_set_frame(void *_Nullable frame) { cplatform_words.frame = frame; }
static inline cplatform_forks *_Nullable cplatform_forks_here(void) { return cplatform_words.forks; }
static inline void cplatform_set_forks(cplatform_forks *_Nullable forks) {
  cplatform_words.forks = forks;
  cplatform_words.forks_launch = forks ? forks->launch : cplatform_no_launch;
}
static inline cplatform_forks *_Nullable cplatform_kept_forks(void) { return cplatform_words.kept_forks; }
static inline void cplatform_keep_forks(cplatform_forks *_Nullable forks) { cplatform_words.kept_forks = forks; }
static inline void *_Nullable cplatform_task_slot(void) { return cplatform_words.task_slot; }
static inline void cplatform_set_task_slot(void *_Nullable slot) { cplatform_words.task_slot = slot; }
static inline void *_Nullable cplatform_long_chain(void) { return cplatform_words.long_chain; }
static inline void cplatform_set_long_chain(void *_Nullable chain) { cplatform_words.long_chain = chain; }
static inline void *_Nullable cplatform_question(void) { return cplatform_words.question; }
static inline void cplatform_set_question(void *_Nullable question) { cplatform_words.question = question; }
static inline void *_Nullable cplatform_cancel_round(void) { return cplatform_words.cancel_round; }
static inline void cplatform_set_cancel_round(void *_Nullable round) { cplatform_words.cancel_round = round; }
static inline void *_Nullable cplatform_pending_handover(void) { return cplatform_words.pending_handover; }
static inline void cplatform_set_pending_handover(void *_Nullable handover) { cplatform_words.pending_handover = handover; }

/// An operation has changed the calling thread's nice value from `nice`. On the main thread, threads that are started
/// meanwhile get `nice`, until `cplatform_forget_main_nice`. Returns false on other threads, and inside of such an
/// operation: there is nothing to forget.
bool cplatform_keep_main_nice(int32_t nice);
void cplatform_forget_main_nice(void);

// --- fork ----------------------------------------------------------------------------------------------------------

/// Remembers from now on whether this process is a forked child that has not called exec. Idempotent.
void cplatform_watch_fork(void);
extern bool cplatform_forked;
static inline bool cplatform_is_forked_child(void) { return cplatform_forked; }

// --- hooks that the umbrella module fills in at link time ------------------------------------------------------------

/// The object that `OperationQueue()` uses as its backend. Weak, so that the core links without any backend.
extern void *_Nullable operations_default_backend(void) __attribute__((weak));
/// The main queue's object. Weak, so that the core links without Dispatch.
extern void *_Nullable operations_main_queue(void) __attribute__((weak));
static inline void *_Nullable cplatform_default_backend(void) {
  return operations_default_backend ? operations_default_backend() : (void *)0;
}
static inline void *_Nullable cplatform_main_queue(void) {
  return operations_main_queue ? operations_main_queue() : (void *)0;
}

// --- tracing -------------------------------------------------------------------------------------------------------

/// Whether operations are being traced: read by every probe, relaxed. See `Sources/OperationTraceEvents/README.md`.
extern bool cplatform_tracing;
static inline bool cplatform_is_tracing(void) { return __atomic_load_n(&cplatform_tracing, __ATOMIC_RELAXED); }
/// A forked child starts with tracing off: its parent's threads are not there to be shown.
void cplatform_set_tracing(bool on);
/// Writes the trace to a path. The operation core defines the function; weak, so that this module links alone.
extern void operations_write_trace(const char *path) __attribute__((weak));
/// Pays what the calling thread owes before it waits: operations, tasks and forks that it holds back. The operation
/// core defines the function; weak, so that forks link without it.
extern void operations_pay_debts(void) __attribute__((weak));
static inline void cplatform_pay_debts(void) {
  if (operations_pay_debts) operations_pay_debts();
}
/// Free the memory that the ending thread keeps to use again: the operation core's, and that of jobs of tasks. Weak, so
/// that jobs link without either.
extern void operations_free_spares(cplatform_thread_words *words) __attribute__((weak));
extern void operations_free_task_spares(cplatform_thread_words *words) __attribute__((weak));
static inline void cplatform_free_spares(cplatform_thread_words *words) {
  if (operations_free_spares) operations_free_spares(words);
  if (operations_free_task_spares) operations_free_task_spares(words);
}
/// A body ends the thread that it runs on instead of returning. `frame` is the thread's `cplatform_frame()`. Does not
/// return. The operation core defines the function; weak, so that this module links alone.
extern void operations_thread_left(const void *_Nullable frame) __attribute__((weak));
/// Fills `place` with the path to rename a file to, when the file replaces what has the name `name`: the path behind
/// all symbolic links. Returns why nothing may be replaced there, or NULL.
const char *_Nullable cplatform_place_to_replace(const char *name, char *place, size_t size);
/// Fills `name` with this program's name, at most `size` bytes, the zero included.
void cplatform_program_name(char *name, size_t size);

// --- reuse ---------------------------------------------------------------------------------------------------------

/// False when OPERATIONS_REUSE=off is in the environment: no memory is kept to be used again.
bool cplatform_reuses_memory(void);

// --- dumps ---------------------------------------------------------------------------------------------------------

/// Whether OPERATIONS_DUMP is set. If so, the first call makes SIGUSR1 release `cplatform_dump_wait`.
bool cplatform_dump_wanted(void);
/// Whether tasks are noted, without a call.
extern bool cplatform_watching_tasks;
/// From now on tasks are noted; or, from now on only with the variable.
void cplatform_watch_tasks(bool also_without_variable);
static inline bool cplatform_watches_tasks(void) { return __atomic_load_n(&cplatform_watching_tasks, __ATOMIC_RELAXED); }
/// Blocks until the next SIGUSR1.
void cplatform_dump_wait(void);

// --- misuse --------------------------------------------------------------------------------------------------------

/// Writes the message and a newline to stderr in one write(2).
void cplatform_print_error(const char *message);

// --- the default executor of Swift's runtime ------------------------------------------------------------------------

/// What the runtime hands jobs to that belong to no other executor.
typedef struct {
  void *context;
  void (*enqueue)(void *context, void *job);
  /// A delay below 0 is none. `counts_suspended`: whether the time counts in which the system is suspended.
  void (*enqueue_after)(void *context, int64_t delay_ns, bool counts_suspended, void *job);
} cplatform_default_executor;
typedef enum {
  cplatform_hook_set = 0,
  cplatform_hook_missing = 1,  ///< this runtime has no such hook
  cplatform_hook_taken = 2     ///< somebody else has set one
} cplatform_hook_state;
/// Sets the three hooks of the runtime, or none of them. To be called once, while no task is handed over.
cplatform_hook_state cplatform_set_default_executor(cplatform_default_executor executor);
/// Whether somebody takes a job that the default executor would get, `delay_ns` from now on: a test.
typedef bool (*cplatform_task_claim)(void *job, int64_t delay_ns);
/// From now on this function is asked first. May be called again, with the same function.
cplatform_hook_state cplatform_claim_tasks(cplatform_task_claim claim);
/// Does what the hook does with a job that is due at once. False: the job belongs to the system's executor.
bool cplatform_hand_over(void *job);
/// Does what the hook does with a job that is due later.
bool cplatform_hand_over_later(void *job, int64_t delay_ns, bool counts_suspended);
/// The runtime numbers the tasks of a process, from 1 on; 0 where it does not tell. `task` is the object of a task.
uint64_t cplatform_task_number(void *task);
/// Whether the calling thread runs a task at this moment; true where the runtime does not tell. What
/// `withUnsafeCurrentTask` says, without the copies that the compiler makes of what that gives.
bool cplatform_runs_task(void);
/// The task that the calling thread runs.
void *_Nullable cplatform_current_task(void);
/// Whether a job is a task, and not the turn of a default actor; false where the runtime does not tell.
bool cplatform_is_task(void *job);

// --- looking at tasks ------------------------------------------------------------------------------------------------

/// Copies memory of this process that may be gone: false where any of the bytes is not mapped, or the system refuses
/// the call.
bool cplatform_read_memory(uintptr_t address, void *buffer, size_t size);
/// The first word of every task of Swift's runtime; 0 where this runtime lays tasks out in a way that is not known.
uintptr_t cplatform_task_metadata(void);
/// The function with which a task goes on that no thread runs; 0 where the layout is not known.
uintptr_t cplatform_task_function(void *task);
/// Whether an address lies in the program, or in a library.
bool cplatform_is_in_image(uintptr_t address);
/// Writes the linker's name of the function that holds an address. Reads the symbols of the file: O(symbols). False:
/// the file has none, or no file holds the address.
bool cplatform_function_name(uintptr_t address, char *name, size_t size);
/// The name of a function of Swift's as in source; NULL where the runtime cannot tell. To be freed.
char *_Nullable cplatform_demangled(const char *name);

#pragma clang assume_nonnull end

#endif
