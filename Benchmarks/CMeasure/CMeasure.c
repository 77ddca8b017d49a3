#define _GNU_SOURCE
#include "CMeasure.h"

#include "CPlatform.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZER_HAS_PTHREAD_CREATE 1
#endif
#endif

#ifdef SANITIZER_HAS_PTHREAD_CREATE

long opbench_threads_created(void) { return -1; }

#else

static atomic_long threads_created;

long opbench_threads_created(void) { return atomic_load_explicit(&threads_created, memory_order_relaxed); }

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

// The program's own definition comes before the C library's, for the libraries that the program loads as well. So every
// thread of the process is counted. A reading of /proc would miss a thread that has ended before the reading.
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static _Atomic(create_function) original;
  create_function create = atomic_load_explicit(&original, memory_order_acquire);
  if (!create) {
    create = (create_function)dlsym(RTLD_NEXT, "pthread_create");
    atomic_store_explicit(&original, create, memory_order_release);
  }
  int status = create(thread, attributes, body, argument);
  if (status == 0) atomic_fetch_add_explicit(&threads_created, 1, memory_order_relaxed);
  return status;
}

#endif

int opbench_perf_open(uint32_t type, uint64_t config, int thread, int exclude_kernel) {
  struct perf_event_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.inherit = 1;
  attributes.exclude_kernel = exclude_kernel != 0;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

// Room for 8,192 CPUs, because the kernel refuses a set that is smaller than its own.
enum { most_cpus = 8192 };

// Puts `wanted` CPUs into `chosen`, from that index on among the CPUs that the calling thread may use. Returns the
// number of CPUs that the thread may use, or 0 when the kernel does not say.
static int choose_cpus(int index, int wanted, cpu_set_t *all, cpu_set_t *chosen, size_t size) {
  CPU_ZERO_S(size, all);
  CPU_ZERO_S(size, chosen);
  if (sched_getaffinity(0, size, all) != 0) return 0;
  int count = CPU_COUNT_S(size, all);
  int left = index < 0 ? count - wanted : index % count;
  for (int cpu = 0; cpu < most_cpus && wanted > 0; cpu++)
    if (CPU_ISSET_S(cpu, size, all) && left-- <= 0) {
      CPU_SET_S(cpu, size, chosen);
      wanted--;
    }
  return count;
}

void opbench_begin_on(unsigned index) {
  cpu_set_t *all = CPU_ALLOC(most_cpus), *one = CPU_ALLOC(most_cpus);
  size_t size = CPU_ALLOC_SIZE(most_cpus);
  if (all && one && choose_cpus((int)(index & INT_MAX), 1, all, one, size) > 1) {
    // The first call returns when the thread has moved. The thread then stays on that CPU until the kernel has a
    // reason to move the thread again.
    if (sched_setaffinity(0, size, one) == 0) sched_setaffinity(0, size, all);
  }
  CPU_FREE(all);
  CPU_FREE(one);
}

int opbench_stay_on_last(unsigned count) {
  cpu_set_t *all = CPU_ALLOC(most_cpus), *last = CPU_ALLOC(most_cpus);
  size_t size = CPU_ALLOC_SIZE(most_cpus);
  int error = ENOMEM;
  if (all && last)
    error = choose_cpus(-1, (int)count, all, last, size) > 0 && sched_setaffinity(0, size, last) == 0 ? 0 : errno;
  CPU_FREE(all);
  CPU_FREE(last);
  return error;
}

int opbench_limit_cpus(int thread, unsigned count) {
  static cpu_set_t *before;
  size_t size = CPU_ALLOC_SIZE(most_cpus);
  if (!before) {
    cpu_set_t *all = CPU_ALLOC(most_cpus);
    if (!all || sched_getaffinity(getpid(), size, all) != 0) return errno;
    before = all;
  }
  cpu_set_t *some = CPU_ALLOC(most_cpus);
  if (!some) return ENOMEM;
  CPU_ZERO_S(size, some);
  for (int cpu = most_cpus - 1; cpu >= 0; cpu--)
    if (CPU_ISSET_S(cpu, size, before) && (count == 0 || CPU_COUNT_S(size, some) < (int)count)) CPU_SET_S(cpu, size, some);
  int error = sched_setaffinity(thread, size, some) == 0 ? 0 : errno;
  CPU_FREE(some);
  return error;
}

int opbench_process_descriptor(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

void opbench_adopt_orphans(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void opbench_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

int opbench_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

// All that the copy does until it becomes its program. Other threads of this process may have held locks when it was
// copied, so only system calls are made here.
static void become(const char *file, char *const arguments[], char *const environment[], const char *folder,
                   const int streams[3], int go, int failure) {
  setpgid(0, 0);
  int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal >= 0) {
    ioctl(terminal, TIOCNOTTY);
    close(terminal);
  }
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  char word;
  ssize_t got;
  while ((got = read(go, &word, 1)) < 0 && errno == EINTR) {}
  if (got != 1) _exit(127);
  int error = 0;
  for (int stream = 0; stream < 3 && !error; stream++)
    if (dup2(streams[stream], stream) < 0) error = errno;
  if (!error && folder && chdir(folder) != 0) error = errno;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  // A file that was just written is busy while a child of another thread still has the file open.
  for (int tries = 0; !error && tries < 100; tries++) {
    execve(file, arguments, environment);
    if (errno != ETXTBSY) break;
    usleep(10000);
  }
  if (!error) error = errno;
  ssize_t written = write(failure, &error, sizeof error);
  _exit(written == sizeof error ? 127 : 126);
}

int opbench_make_waiting(const char *file, char *const arguments[], char *const environment[], const char *folder,
                         int input, int output, int errors, struct opbench_waiting *made) {
  int go[2], failure[2];
  if (opbench_pipe(go) != 0) return errno;
  if (opbench_pipe(failure) != 0) {
    int error = errno;
    close(go[0]);
    close(go[1]);
    return error;
  }
  // No signal reaches a handler of this process in the copy.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int process = fork();
  int error = process < 0 ? errno : 0;
  if (process == 0) {
    close(go[1]);
    close(failure[0]);
    become(file, arguments, environment, folder, (int[]){input, output, errors}, go[0], failure[1]);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(go[0]);
  close(failure[1]);
  if (error) {
    close(go[1]);
    close(failure[0]);
    return error;
  }
  // This process and its copy both set the group. So the group exists for the first of them that needs the group.
  setpgid(process, process);
  *made = (struct opbench_waiting){.process = process, .go = go[1], .failure = failure[0]};
  return 0;
}

int opbench_let_go(struct opbench_waiting *made) {
  int error = 0;
  if (write(made->go, "", 1) != 1) error = errno;
  close(made->go);
  // The pipe closes when the process becomes its program.
  ssize_t got;
  int reason = 0;
  while ((got = read(made->failure, &reason, sizeof reason)) < 0 && errno == EINTR) {}
  if (got == sizeof reason) error = reason;
  close(made->failure);
  return error;
}

struct opbench_busy *opbench_share_busy(void) {
  void *memory = mmap(NULL, sizeof(struct opbench_busy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void opbench_forget_busy(struct opbench_busy *shared) { munmap(shared, sizeof *shared); }

static int is_turn(struct opbench_busy *shared, uint32_t turn) {
  return __atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE) == turn;
}

// Sleeps until that time, or until the turn is another one; 0: until the turn is another one.
static void sleep_in_turn(struct opbench_busy *shared, uint32_t turn, uint64_t until) {
  struct timespec time = {.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};
  while (is_turn(shared, turn) && (until == 0 || cplatform_now_ns() < until))
    syscall(SYS_futex, &shared->turn, FUTEX_WAIT_BITSET, turn, until ? &time : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

// All that the process does. Other threads of its parent may have held locks when the process was made, so only system
// calls are made here.
static void come_and_go(struct opbench_busy *shared, const uint64_t *stays, unsigned count) {
  for (;;) {
    uint32_t turn = __atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE);
    if (turn % 2 == 1) {
      uint64_t until = shared->start, end = shared->end;
      sleep_in_turn(shared, turn, until);
      for (unsigned stay = 0; is_turn(shared, turn) && until < end; stay = (stay + 1) % count) {
        until = end - until > stays[stay] ? until + stays[stay] : end;
        if (stay % 2 == 1) sleep_in_turn(shared, turn, until);
        while (is_turn(shared, turn) && cplatform_now_ns() < until) {}
      }
    }
    sleep_in_turn(shared, turn, 0);
  }
}

int opbench_start_busy(struct opbench_busy *shared, const uint64_t *stays, unsigned count) {
  int parent = getpid();
  // No signal reaches a handler of this process in the copy.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int process = fork();
  if (process == 0) {
    setpgid(0, 0);
    opbench_end_with_parent();
    // Who reads a pipe of the parent waits for its last writer.
    if (syscall(SYS_close_range, 0, ~0U, 0) != 0)
      for (int descriptor = 0; descriptor < 4096; descriptor++) close(descriptor);
    if (getppid() == parent) come_and_go(shared, stays, count);
    _exit(1);
  }
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (process > 0) setpgid(process, process);
  errno = error;
  return process;
}

static void next_turn(struct opbench_busy *shared) {
  __atomic_fetch_add(&shared->turn, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &shared->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void opbench_begin_busy(struct opbench_busy *shared, uint64_t start, uint64_t end) {
  shared->start = start;
  shared->end = end;
  next_turn(shared);
}

void opbench_end_busy(struct opbench_busy *shared) { next_turn(shared); }

static inline void fence(void) {
#if defined(__x86_64__)
  __asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#else
  __sync_synchronize();
#endif
}

void opbench_keep(const void *value) {
  // The compiler does not see what the statement reads, so it keeps what is stored there.
  __asm__ volatile("" : : "r"(value) : "memory");
}

void opbench_delay(long rounds) {
  fence();
  // The compiler does not see what the statement does with the number, so it keeps every round.
  for (; rounds > 0; rounds--) __asm__ volatile("" : "+r"(rounds));
  fence();
}
