// Where OpenMP runs: a team of `workers` threads, one of which is the main thread. It adds tasks, and takes part while
// it waits. The others take tasks in the barrier at the end of the parallel region.
#pragma once

#include <omp.h>

#include <exception>
#include <functional>

#include "runtime.hpp"

/// How the tasks of this program are. Written once, before there is one.
inline bool areTreesUntied = false;

inline int serveInTeam(int count, char **arguments, const Benchmarks &benchmarks) {
  auto [name, version, decisions] = runtime();
  auto within = [](uint64_t workers, const Strategy &strategy, const std::function<void()> &body) {
    setEnvironment(strategy);
    areTreesUntied = strategy.is("trees", "untied");
    std::exception_ptr failure;
#pragma omp parallel num_threads(int(workers))
#pragma omp master
    try {
      check(omp_get_num_threads() == int(workers), "the team has another number of threads than workers");
      body();
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) std::rethrow_exception(failure);
  };
  return serve(count, arguments, {name, version, benchmarks, decisions, within});
}
