// What the program's environment asks for: a trace of the whole program, and a dump at a signal.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cplatform_tracing = false;
static void end_tracing_in_child(void) { cplatform_tracing = false; }
static void watch_fork_for_trace(void) { pthread_atfork(NULL, NULL, end_tracing_in_child); }

void cplatform_set_tracing(bool on) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (on) pthread_once(&once, watch_fork_for_trace);
  // The store comes after everything that was stored for the recording: see the fence in `TraceSession.ownBuffer`.
  __atomic_store_n(&cplatform_tracing, on, __ATOMIC_RELEASE);
}

void cplatform_program_name(char *name, size_t size) {
  snprintf(name, size, "%s", program_invocation_short_name);
}

const char *cplatform_place_to_replace(const char *name, char *place, size_t size) {
  if ((size_t)snprintf(place, size, "%s", name) >= size) return strerror(ENAMETOOLONG);
  // The loop follows as many links as the kernel does.
  for (int links = 0; links < 40; links++) {
    struct stat status;
    if (stat(place, &status) == 0) {
      if (S_ISDIR(status.st_mode)) return strerror(EISDIR);
      // A device or a FIFO would be gone. A link in /proc stands for an open file, such as a standard output: whoever
      // has the file open would go on with the replaced file.
      if (!S_ISREG(status.st_mode) || strncmp(place, "/proc/", 6) == 0 || strncmp(place, "/dev/fd/", 8) == 0) {
        return "it is no regular file, and would be replaced by one";
      }
    }
    char target[PATH_MAX];
    ssize_t length = readlink(place, target, sizeof target - 1);
    if (length < 0) return NULL;
    target[length] = 0;
    const char *slash = strrchr(place, '/');
    size_t folder = *target == '/' || !slash ? 0 : (size_t)(slash + 1 - place);
    if (folder + (size_t)length >= size) return strerror(ENAMETOOLONG);
    memcpy(place + folder, target, (size_t)length + 1);
  }
  return strerror(ELOOP);
}

// OPERATIONS_TRACE=FILE.json traces the whole program, and writes the file at its normal exit.

static char trace_path[PATH_MAX];
static pid_t traced_process;

static void write_trace_at_exit(void) {
  // A forked child that ends normally must not overwrite what its parent will write.
  if (getpid() == traced_process && operations_write_trace) operations_write_trace(trace_path);
}

/// Replaces each "%p" by the process's number, so that a program and the programs that it starts do not write one
/// file. A relative name is relative to the present folder, wherever the program goes before it ends.
static bool expand_trace_path(const char *pattern) {
  size_t used = 0;
  if (*pattern != '/') {
    if (!getcwd(trace_path, sizeof trace_path - 1)) return false;
    used = strlen(trace_path);
    trace_path[used++] = '/';
  }
  for (const char *c = pattern; *c; c++) {
    size_t room = sizeof trace_path - used;
    int length = c[0] == '%' && c[1] == 'p' ? snprintf(trace_path + used, room, "%d", (int)traced_process)
                                            : snprintf(trace_path + used, room, "%c", *c);
    if (length < 0 || (size_t)length >= room) {
      errno = ENAMETOOLONG;
      return false;
    }
    if (c[0] == '%' && c[1] == 'p') c++;
    used += (size_t)length;
  }
  return true;
}

/// Why the trace cannot be written, or NULL.
static const char *trace_obstacle(void) {
  char place[PATH_MAX];
  const char *reason = cplatform_place_to_replace(trace_path, place, sizeof place);
  if (reason) return reason;
  // Both names are absolute.
  char *slash = strrchr(place, '/');
  slash[slash == place ? 1 : 0] = 0;
  return access(place, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

// Runs before main, so that nothing is missed. Runs only C, because Swift's runtime may not be ready yet.
__attribute__((constructor)) static void trace_from_environment(void) {
  const char *pattern = secure_getenv("OPERATIONS_TRACE");
  if (!pattern || !*pattern) return;
  traced_process = getpid();
  const char *reason = expand_trace_path(pattern) ? trace_obstacle() : strerror(errno);
  if (reason) {
    char message[256 + PATH_MAX];
    snprintf(message, sizeof message, "Operations: OPERATIONS_TRACE: cannot write %s: %s; nothing is traced", pattern,
             reason);
    cplatform_print_error(message);
    return;
  }
  if (atexit(write_trace_at_exit) == 0) cplatform_set_tracing(true);
}

// OPERATIONS_DUMP: the signal handler only posts; a thread of the library's writes.

static sem_t dump_requests;
static bool dump_wanted = false;
bool cplatform_watching_tasks = false;

static void request_dump(int signal) {
  (void)signal;
  sem_post(&dump_requests);
}

static void find_dump_wanted(void) {
  const char *value = secure_getenv("OPERATIONS_DUMP");
  if (!value || !*value) return;
  sem_init(&dump_requests, 0, 0);
  struct sigaction action = {.sa_handler = request_dump, .sa_flags = SA_RESTART};
  dump_wanted = sigaction(SIGUSR1, &action, NULL) == 0;
  if (dump_wanted) __atomic_store_n(&cplatform_watching_tasks, true, __ATOMIC_RELAXED);
}

bool cplatform_dump_wanted(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_dump_wanted);
  return dump_wanted;
}

void cplatform_watch_tasks(bool also_without_variable) {
  __atomic_store_n(&cplatform_watching_tasks, also_without_variable || cplatform_dump_wanted(), __ATOMIC_RELAXED);
}

void cplatform_dump_wait(void) {
  while (sem_wait(&dump_requests) != 0 && errno == EINTR) {
  }
}
