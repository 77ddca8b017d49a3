#ifndef OPBENCH_CMEASURE_H
#define OPBENCH_CMEASURE_H

#include <stdint.h>

/// The number of threads that this process has created so far, in any library; negative when threads are not counted.
long opbench_threads_created(void);

/// Opens a counter of one thread and of all threads that the thread creates from now on (perf_event_open); negative,
/// with errno, when the kernel refuses.
int opbench_perf_open(uint32_t type, uint64_t config, int thread, int exclude_kernel);

/// Moves the calling thread onto the CPU with this index among the CPUs that the thread may use, modulo their number.
/// The thread may use the same CPUs afterwards as before. Does nothing when the thread may use only one CPU.
void opbench_begin_on(unsigned index);

/// Binds the calling thread, and so whatever the thread starts from now on, to the last `count` of the CPUs that it may
/// use. Returns 0, or errno.
int opbench_stay_on_last(unsigned count);

/// Binds a thread of this process to the last `count` of the CPUs that the process had at the first call; 0 for all of
/// them. One thread calls this at a time. Returns 0, or errno.
int opbench_limit_cpus(int thread, unsigned count);

/// A descriptor that becomes readable when the process ends (pidfd_open); negative, with errno, when the kernel has no
/// such descriptors.
int opbench_process_descriptor(int process);

/// From now on the kernel kills this process when the thread that started the process ends (prctl).
void opbench_end_with_parent(void);

/// From now on a process whose parent has ended, below this one, becomes a child of this process (prctl).
void opbench_adopt_orphans(void);

/// Does nothing with a value that the compiler of the caller cannot see.
void opbench_keep(const void *value);

/// Opens a pipe, of which a program that is executed inherits neither end (pipe2). Returns 0, or -1 with errno.
int opbench_pipe(int ends[2]);

/// A process that has been made and waits to become its program.
struct opbench_waiting {
  int process;
  /// The pipe at which the process waits, and the pipe that tells why the process did not become its program.
  int go, failure;
};

/// Makes a process that waits, in a group of its own, with the default action for all signals. The process has no
/// terminal, so nothing in it can wait for a user. Returns 0, or errno.
///
/// The process is a copy of this one (fork), and not one that borrows this one's memory (vfork, posix_spawn). Linux
/// would count the memory of this process as the peak of the program's.
int opbench_make_waiting(const char *file, char *const arguments[], char *const environment[], const char *folder,
                         int input, int output, int errors, struct opbench_waiting *made);

/// Lets the process become its program. Returns 0 once it is, or errno when it cannot; the process has then ended.
int opbench_let_go(struct opbench_waiting *made);

/// What processes that keep CPUs busy read of the process that started them.
struct opbench_busy {
  /// Odd while the processes are busy. They sleep at this word.
  uint32_t turn;
  /// The times of the monotonic clock between which they are busy; `start` is above 0.
  uint64_t start, end;
};

/// Memory that this process shares with processes that it starts later. NULL, with errno, when there is none.
struct opbench_busy *opbench_share_busy(void);

/// Starts a process in a group of its own, that ends with the calling thread. While the turn is odd, the process is
/// busy for `stays[0]` nanoseconds from `start` on, away for `stays[1]`, busy for `stays[2]`, and so on, again and
/// again, until `end`. `count` is even. Returns the process, or -1 with errno.
int opbench_start_busy(struct opbench_busy *shared, const uint64_t *stays, unsigned count);

/// Begins a turn of the processes.
void opbench_begin_busy(struct opbench_busy *shared, uint64_t start, uint64_t end);

/// Ends the turn. The processes sleep.
void opbench_end_busy(struct opbench_busy *shared);

/// Gives the memory back.
void opbench_forget_busy(struct opbench_busy *shared);

/// Counts `rounds` down, about one cycle each. No other work of the CPU overlaps with the counting: the first fence
/// waits for what was begun before, and the second one for the counting.
void opbench_delay(long rounds);

#endif
