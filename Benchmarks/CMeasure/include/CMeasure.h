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

/// Binds the calling thread, and so whatever the thread starts from now on, to the last of the CPUs that it may use.
/// Returns 0, or errno.
int opbench_stay_on_one(void);

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

/// Counts `rounds` down, about one cycle each. No other work of the CPU overlaps with the counting: the first fence
/// waits for what was begun before, and the second one for the counting.
void opbench_delay(long rounds);

#endif
