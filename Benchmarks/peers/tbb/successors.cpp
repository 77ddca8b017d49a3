// Dependencies as oneTBB's tasks have them: a task is ordered behind others that wait, run or have ended, as an
// operation is.
#define TBB_PREVIEW_TASK_GROUP_EXTENSIONS 1
#include <tbb/task_group.h>

#include <vector>

#include "edges.hpp"
#include "families.hpp"

namespace {

struct Successors {
  /// Tasks run while others are still being added.
  template <typename Body> static uint64_t run(const Graph &tasks, const Body &body) {
    tbb::task_group group;
    std::vector<tbb::task_completion_handle> added(tasks.count());
    auto began = now();
    for (uint32_t task = 0; task < tasks.count(); ++task) {
      auto handle = group.defer([&body, task] { body(task); });
      for (auto input : tasks.inputs[task]) tbb::task_group::set_task_order(added[input], handle);
      added[task] = handle;
      group.run(std::move(handle));
    }
    group.wait();
    return now() - began;
  }
};

} // namespace

const Benchmarks taskDependencies = edgeBenchmarks<Successors>();
