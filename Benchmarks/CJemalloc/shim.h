#ifndef OPBENCH_CJEMALLOC_H
#define OPBENCH_CJEMALLOC_H

// jemalloc's control interface, declared and never linked: the benchmarks look mallctl up at run time, in the one
// process that was started with the library preloaded. So the benchmarks build where jemalloc is absent, and timed
// processes keep malloc as it is.

#include <stddef.h>

#if __has_include(<jemalloc/jemalloc.h>)
#include <jemalloc/jemalloc.h>
#endif

#ifdef MALLCTL_ARENAS_ALL
enum { OPBENCH_ALL_ARENAS = MALLCTL_ARENAS_ALL };
#else
enum { OPBENCH_ALL_ARENAS = 4096 };
#endif

typedef int (*opbench_mallctl)(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size);

#endif
