// Threads: how they begin, what they take from the process, how they end, and what the system says about them.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// More CPUs than any kernel is built for. With a set smaller than the kernel's the calls fail with EINVAL.
enum { most_cpus = 8192 };
typedef union {
  cpu_set_t first;
  unsigned char bytes[most_cpus / 8];
} cpus;

/// The CPUs of a thread's affinity mask; 0 stands for the calling thread.
static bool get_cpus(pid_t thread, cpus *set) {
  memset(set, 0, sizeof *set);
  return sched_getaffinity(thread, sizeof *set, &set->first) == 0;
}

int32_t cplatform_affinity_count(void) {
  cpus set;
  int32_t count = get_cpus(getpid(), &set) ? CPU_COUNT_S(sizeof set, &set.first) : 1;
  return count > 0 ? count : 1;
}

static struct {
  pthread_key_t key;
  bool exists;  ///< a process has a limited number of keys, and others may have taken them all
} exit_keys[3];
static void run_at_exit(void *body) { ((void (*)(void))body)(); }
static void make_exit_keys(void) {
  for (size_t owner = 0; owner < sizeof exit_keys / sizeof *exit_keys; owner++)
    exit_keys[owner].exists = pthread_key_create(&exit_keys[owner].key, run_at_exit) == 0;
}

bool cplatform_at_thread_exit(cplatform_exit_owner owner, void (*body)(void)) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_exit_keys);
  return exit_keys[owner].exists && pthread_setspecific(exit_keys[owner].key, (void *)body) == 0;
}

/// What sched_getattr(2) fills in. The C library has no name for it.
struct scheduling {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};

static bool get_scheduling(pid_t thread, struct scheduling *found) {
  memset(found, 0, sizeof *found);
  return syscall(SYS_sched_getattr, thread, found, (unsigned)sizeof *found, 0) == 0;
}

/// The main thread's nice value without the change of the operation that it runs; `no_nice` while it runs none.
enum { no_nice = 100 };
static int main_base_nice = no_nice;

bool cplatform_keep_main_nice(int32_t nice) {
  if (!cplatform_is_main_thread() || main_base_nice != no_nice) return false;
  __atomic_store_n(&main_base_nice, nice, __ATOMIC_RELAXED);
  return true;
}

void cplatform_forget_main_nice(void) { __atomic_store_n(&main_base_nice, no_nice, __ATOMIC_RELAXED); }

/// Takes the main thread's CPUs, scheduling policy and nice value. A new thread has those of the thread that started
/// it, which may be any thread of the program.
static void join_process(void) {
  const pid_t main_thread = getpid();
  cpus own_cpus, main_cpus;
  if (get_cpus(main_thread, &main_cpus) && get_cpus(0, &own_cpus) &&
      memcmp(&own_cpus, &main_cpus, sizeof own_cpus) != 0)
    sched_setaffinity(0, sizeof main_cpus, &main_cpus.first);
  struct scheduling own, wanted;
  if (!get_scheduling(main_thread, &wanted) || !get_scheduling(0, &own)) return;
  int base = __atomic_load_n(&main_base_nice, __ATOMIC_RELAXED);
  if (base != no_nice) wanted.nice = base;
  if (own.policy == wanted.policy && own.nice == wanted.nice && own.priority == wanted.priority) return;
  wanted.size = sizeof wanted;
  if (syscall(SYS_sched_setattr, 0, &wanted, 0) == 0 || wanted.nice >= own.nice) return;
  // The system does not let this process make a thread less nice. The policy may still be the process's.
  wanted.nice = own.nice;
  syscall(SYS_sched_setattr, 0, &wanted, 0);
}

/// The signals that libdispatch leaves open on its workers.
static const int open_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGPIPE, SIGPROF};

void cplatform_join_process(void) {
  static _Thread_local bool joined = false;
  if (joined) return;
  joined = true;
  join_process();
  // libdispatch's workers block what the thread blocked that started them, too.
  sigset_t opened;
  sigemptyset(&opened);
  for (size_t index = 0; index < sizeof open_signals / sizeof *open_signals; index++)
    sigaddset(&opened, open_signals[index]);
  pthread_sigmask(SIG_UNBLOCK, &opened, NULL);
}

/// The signals that the program blocks: those that the main thread and the calling thread block. `caller` is the
/// calling thread's mask.
static sigset_t mask_of_program(const sigset_t *caller);

struct start {
  void (*body)(void *);
  void *context;
  sigset_t program_mask;
};

// The signal mask of the main thread: a child that a pool's thread forks gets this mask back.
static _Thread_local sigset_t program_mask;
static _Thread_local bool has_program_mask = false;

// A body that leaves its thread without returning: pthread_exit, pthread_cancel.

static void left(void *unused) {
  (void)unused;
  if (operations_thread_left) operations_thread_left(cplatform_words.frame);
  cplatform_print_error("Operations: a body ended its thread with pthread_exit or pthread_cancel; a body must return");
  abort();
}

/// Keeps the frames of `body` away from those of `left`: `left` runs when the stack is cut back to its caller, and
/// still reads what lay on the stack of `body`.
__attribute__((noinline)) static void call_further_down(void (*body)(void *), void *context) {
  volatile char distance[8192];
  distance[0] = 0;
  body(context);
  // An access after the call keeps the array for as long as the call.
  distance[sizeof distance - 1] = distance[0];
}

void cplatform_call_to_its_end(void (*body)(void *), void *context) {
  pthread_cleanup_push(left, NULL);
  call_further_down(body, context);
  pthread_cleanup_pop(0);
}

static void *enter(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  join_process();
  program_mask = start.program_mask;
  has_program_mask = true;
  cplatform_call_to_its_end(start.body, start.context);
  return NULL;
}

int cplatform_thread_start(void (*body)(void *), void *context, size_t stack_bytes) {
  struct start *start = malloc(sizeof *start);
  if (!start) return ENOMEM;
  start->body = body;
  start->context = context;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  // Signals belong to the program's own threads, not to the pool's, but for these. A fault belongs to the thread that
  // causes it: if its signal were blocked, the kernel would end the program without a word, past every handler.
  // SIGPROF is what a sampling profiler and the crash reporter of the toolchain send to a thread. SIGPIPE ends a
  // program that writes where nobody reads. libdispatch leaves the same signals open on its workers, except SIGABRT.
  sigset_t others, before;
  sigfillset(&others);
  for (size_t index = 0; index < sizeof open_signals / sizeof *open_signals; index++)
    sigdelset(&others, open_signals[index]);
  sigdelset(&others, SIGABRT);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  start->program_mask = has_program_mask ? program_mask : mask_of_program(&before);
  pthread_t thread;
  int result = pthread_create(&thread, &attributes, enter, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (result != 0) free(start);
  return result;
}

int32_t cplatform_thread_id(void) { return (int32_t)syscall(SYS_gettid); }

int32_t cplatform_process_id(void) { return (int32_t)getpid(); }

bool cplatform_is_main_thread(void) {
  static _Thread_local signed char known = -1;
  if (known < 0) known = cplatform_thread_id() == (int32_t)getpid();
  return known;
}

// The stack is asked for once per thread. The main thread's stack grows up to a limit; pthread_getattr_np knows that
// limit as well.
static _Thread_local size_t stack_bytes = 0;
static _Thread_local uintptr_t stack_low = 0;

static void find_stack(void) {
  pthread_attr_t attributes;
  void *low = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    if (pthread_attr_getstack(&attributes, &low, &bytes) != 0) bytes = 0;
    pthread_attr_destroy(&attributes);
  }
  stack_bytes = bytes > 0 ? bytes : SIZE_MAX / 2;
  stack_low = bytes > 0 ? (uintptr_t)low : 0;
}

size_t cplatform_stack_size(void) {
  if (stack_bytes == 0) find_stack();
  return stack_bytes;
}

size_t cplatform_stack_left(void) {
  if (stack_bytes == 0) find_stack();
  if (stack_low == 0) return stack_bytes;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here > stack_low ? here - stack_low : 0;
}

void cplatform_thread_set_name(const char *name) {
  char short_name[16];
  strncpy(short_name, name, sizeof short_name - 1);
  short_name[15] = 0;
  pthread_setname_np(pthread_self(), short_name);
}

void cplatform_thread_get_name(char name[16]) {
  if (pthread_getname_np(pthread_self(), name, 16) != 0) name[0] = 0;
}

/// Says once for the whole program why the system does not tell what threads do.
static void report_hidden_threads(int reason) {
  static bool said = false;
  if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED)) return;
  char message[256];
  snprintf(message, sizeof message,
           "Operations: /proc cannot be read (%s): a body that blocks is known by its CPU time, some 20 ms later",
           strerror(reason));
  cplatform_print_error(message);
}

/// Reads a small file of the thread's folder in /proc; the text ends with a zero. Returns the text's length, 0 for
/// a thread that has ended, -1 with the reason in `errno` when the thread is there and the file cannot be read.
static ssize_t read_thread_file(int32_t thread_id, const char *name, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread_id, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
  int reason = errno;
  if (file >= 0) close(file);
  if (length > 0) {
    text[length] = 0;
    return length;
  }
  // Without descriptors, or where /proc is not mounted or not this process's, every thread seems to have ended.
  if (syscall(SYS_tgkill, getpid(), thread_id, 0) != 0) return 0;
  errno = length < 0 ? reason : ENODATA;
  return -1;
}

/// The letter of the thread's state; '?' when it has ended, '-' when the system does not tell.
static char thread_state(int32_t thread_id) {
  char text[512];
  ssize_t length = read_thread_file(thread_id, "stat", text, sizeof text);
  if (length == 0) return '?';
  if (length < 0) {
    report_hidden_threads(errno);
    return '-';
  }
  // The text is "tid (name) S ...". The name may itself contain brackets, so the search goes from the end.
  const char *bracket = strrchr(text, ')');
  return bracket && bracket[1] == ' ' ? bracket[2] : '?';
}

/// The signals that the main thread blocks, bit by bit from signal 1. False where /proc does not say.
static bool read_main_mask(unsigned long long *blocked) {
  char text[4096];
  const char *line = read_thread_file(getpid(), "status", text, sizeof text) > 0 ? strstr(text, "\nSigBlk:") : NULL;
  return line && sscanf(line, "\nSigBlk: %llx", blocked) == 1;
}

static sigset_t mask_of_program(const sigset_t *caller) {
  sigset_t mask = *caller;
  if (cplatform_is_main_thread() || !sigismember(caller, SIGTERM) || !sigismember(caller, SIGINT)) return mask;
  // The C library blocks all signals while the main thread starts a thread. Signals 32 and 33, which are the C
  // library's own, tell such a mask: a program cannot block them. The main thread may get no CPU meanwhile, so the wait
  // becomes a sleep, and ends after a second.
  const unsigned long long of_the_c_library = 3ull << 31;
  unsigned long long blocked;
  for (int tries = 0; tries < 1000 && read_main_mask(&blocked); tries++) {
    if ((blocked & of_the_c_library) != of_the_c_library) {
      for (int signal = 1; signal <= 64; signal++)
        if (!(blocked >> (signal - 1) & 1)) sigdelset(&mask, signal);
      break;
    }
    if (tries < 10)
      sched_yield();
    else
      usleep(1000);
  }
  return mask;
}

cplatform_thread_sight cplatform_thread_look(int32_t thread_id) {
  char state = thread_state(thread_id);
  if (state == '-') return cplatform_thread_hidden;
  return state == 'S' || state == 'D' ? cplatform_thread_sleeps : cplatform_thread_runs;
}

uint64_t cplatform_thread_cpu_ns(int32_t thread_id) {
  // The kernel's name of the CPU clock of a thread of this process: the thread's number, inverted, before three bits.
  // Bit 2 says that the clock is a thread's, the value 2 in the lowest bits that it counts what the scheduler gave.
  clockid_t clock = (clockid_t)((~(unsigned)thread_id << 3) | 4u | 2u);
  struct timespec used;
  if (clock_gettime(clock, &used) != 0) return 0;
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

bool cplatform_cpus_are_taken(void) { return cplatform_running_threads() >= sysconf(_SC_NPROCESSORS_ONLN); }

long cplatform_running_threads(void) {
  char text[128];
  int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = 0;
  // The text is "0.20 0.18 0.12 3/80 11206": three threads run or wait for a CPU, of which the calling one is one.
  long running;
  return sscanf(text, "%*s %*s %*s %ld/", &running) == 1 && running > 0 ? running - 1 : 0;
}

void cplatform_thread_kernel_word(int32_t thread_id, char *word, size_t size) {
  // A kernel may be built without this file, and may forbid to read it: the thread's state is another file.
  if (read_thread_file(thread_id, "wchan", word, size) > 0 && strcmp(word, "0") != 0) return;
  char state = thread_state(thread_id);
  if (state == '-')
    snprintf(word, size, "/proc cannot be read");
  else
    snprintf(word, size, "state %c", state);
}

int32_t cplatform_thread_nice(void) { return getpriority(PRIO_PROCESS, (id_t)cplatform_thread_id()); }

bool cplatform_thread_set_nice(int32_t nice) {
  return setpriority(PRIO_PROCESS, (id_t)cplatform_thread_id(), nice) == 0;
}

static void *try_nice(void *argument) {
  int32_t before = cplatform_thread_nice();
  *(bool *)argument = cplatform_thread_set_nice(before < 19 ? before + 1 : before) && cplatform_thread_set_nice(before);
  return NULL;
}

static bool may_restore_nice = false;
static void find_may_restore_nice(void) {
  // The trial runs on a thread of its own: where the system refuses the way back, the calling thread must not stay
  // slow.
  pthread_t thread;
  bool answer = false;
  if (pthread_create(&thread, NULL, try_nice, &answer) == 0) pthread_join(thread, NULL);
  may_restore_nice = answer;
}

bool cplatform_may_restore_nice(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_may_restore_nice);
  return may_restore_nice;
}

bool cplatform_forked = false;

static void forked(void) {
  cplatform_forked = true;
  // Signals are blocked on a pool's thread. A program that the child becomes by exec would inherit that, and would not
  // notice SIGTERM.
  if (has_program_mask) pthread_sigmask(SIG_SETMASK, &program_mask, NULL);
}
static void watch_fork(void) { pthread_atfork(NULL, NULL, forked); }

void cplatform_watch_fork(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_fork);
}
