#ifndef OPBENCH_CMEASURE_H
#define OPBENCH_CMEASURE_H

#include <stdint.h>

/// How many threads this process has created so far, in whatever library; negative where they are not counted.
long opbench_threads_created(void);

/// A counter of one thread and of all that it creates from now on (perf_event_open); negative, with errno, when refused.
int opbench_perf_open(uint32_t type, uint64_t config, int thread, int exclude_kernel);

/// Moves the calling thread onto the CPU of this index among those it may use, modulo their number. All that it could use
/// before it can use afterwards. Does nothing where there is one CPU.
void opbench_begin_on(unsigned index);

#endif
