#include <tbb/task_group.h>

#include "families.hpp"
#include "trees.hpp"

namespace {

/// The form of oneTBB's own examples.
struct TaskGroups : Undisturbed {
  template <typename Tree> static uint64_t solve(const Tree &tree) {
    return groupedSum<tbb::task_group>(tree, tree.root);
  }
};

} // namespace

const Benchmarks forkJoin = [] {
  auto benchmarks = forkJoinBenchmarks<TaskGroups>();
  benchmarks["forkjoin/break-even"] = breakEven<TaskGroups>;
  return benchmarks;
}();
