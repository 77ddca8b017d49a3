// Where oneTBB runs: an arena of `workers` slots, one of which is the main thread's. It adds work and takes part while
// it waits, as in every program that uses oneTBB.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/version.h>

#include <functional>
#include <string>

#include "protocol.hpp"

inline int serveInArena(int count, char **arguments, const std::string &name, const Benchmarks &benchmarks) {
  auto version = std::string("oneTBB ") + TBB_VERSION_STRING + ", " + compiler();
  auto within = [](uint64_t workers, const Strategy &, const std::function<void()> &body) {
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    tbb::task_arena(int(workers)).execute(body);
  };
  return serve(count, arguments, {name, version, benchmarks, {}, within});
}
