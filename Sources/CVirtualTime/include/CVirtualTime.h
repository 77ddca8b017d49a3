#ifndef CVIRTUALTIME_H
#define CVIRTUALTIME_H

#include <stdint.h>

#pragma clang assume_nonnull begin

// The clocks of the system, as code of a test sees them. This target defines clock_gettime for the whole program, so
// only programs that test link it. A thread without a virtual time gets the real one.

/// A virtual time: nanoseconds that have passed, and the real times at which it began.
typedef struct {
  int64_t passed;
  int64_t monotonic;
  int64_t boot;
  int64_t real;
} cvirtual_time;

/// A time that begins now. The caller writes `passed` with `cvirtual_time_set`, and frees the memory.
cvirtual_time *cvirtual_time_make(void);
void cvirtual_time_free(cvirtual_time *time);
void cvirtual_time_set(cvirtual_time *time, int64_t passed);
/// From now on the calling thread's clocks show this time; with NULL, the real ones.
/// Returns what they have shown before.
cvirtual_time *_Nullable cvirtual_time_show(cvirtual_time *_Nullable time);

#pragma clang assume_nonnull end

#endif
