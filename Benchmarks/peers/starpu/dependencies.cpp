// Dependencies as StarPU has them between tasks without data: each task names the tasks that come before it. All are
// made and connected before the first is submitted, since a task that has run is gone.
#include <vector>

#include "edges.hpp"
#include "families.hpp"
#include "tasks.hpp"

namespace {

struct Tasks {
  template <typename Body> static uint64_t run(const Graph &graph, const Body &body) {
    struct Call {
      const Body *body;
      uint32_t task;
    };
    static Codelet codelet([](void **, void *argument) {
      auto call = static_cast<const Call *>(argument);
      (*call->body)(call->task);
    });
    std::vector<Call> calls(graph.count());
    std::vector<starpu_task *> tasks(graph.count()), inputs;
    for (uint32_t task = 0; task < graph.count(); ++task) {
      calls[task] = {&body, task};
      tasks[task] = codelet.task(&calls[task]);
      inputs.clear();
      for (auto input : graph.inputs[task]) inputs.push_back(tasks[input]);
      if (!inputs.empty()) starpu_task_declare_deps_array(tasks[task], unsigned(inputs.size()), inputs.data());
    }
    auto added = now();
    for (auto task : tasks) submit(task);
    starpu_task_wait_for_all();
    return now() - added;
  }
};

} // namespace

const Benchmarks dependencies = edgeBenchmarks<Tasks>();
