// Dependencies on a task_group: it has none of its own, so tasks `run` what becomes ready.
#include <tbb/task_group.h>

#include <atomic>
#include <memory>
#include <vector>

#include "families.hpp"
#include "graph.hpp"
#include "marks.hpp"
#include "work.hpp"

namespace {

/// Each task runs the next as its last act.
Measure chain(const Request &request) {
  struct Chain {
    uint64_t length;
    Order order;
    tbb::task_group group;

    explicit Chain(uint64_t length) : length(length), order(length) {}

    void step(uint64_t index) {
      order.visit(index);
      if (index + 1 < length) group.run([this, index] { step(index + 1); });
    }
  };
  auto length = request.positive("param.length");
  auto chain = std::make_shared<Chain>(length);
  auto add = [=] {
    chain->group.run([own = chain.get()] { own->step(0); });
    chain->group.wait();
  };
  return rounds(length, length - 1, add, [=] { chain->order.verify(); });
}

/// The join is what follows the wait.
Measure fanIn(const Request &request) {
  auto width = request.positive("param.width");
  auto flags = std::make_shared<Flags>(width);
  auto seen = std::make_shared<size_t>(0);
  auto add = [=] {
    tbb::task_group group;
    addAll(group, *flags);
    group.wait();
    *seen = flags->ran();
  };
  return rounds(width + 1, width, add, [=] {
    check(*seen == width, "the join saw " + std::to_string(*seen) + " inputs complete");
    flags->verify();
  });
}

/// A count of unfinished inputs for each task; whoever brings it to zero runs the task.
class CountedGraph {
public:
  explicit CountedGraph(GraphData &data) : data(data), waiting(data.graph.count()) {}

  uint64_t run() {
    auto &graph = data.graph;
    for (size_t task = 0; task < graph.count(); ++task) {
      waiting[task].store(int(graph.inputs[task].size()), std::memory_order_relaxed);
    }
    auto added = now();
    for (auto task : graph.sources) group.run([this, task] { execute(task); });
    group.wait();
    return now() - added;
  }

private:
  void execute(uint32_t task) {
    data.execute(task);
    for (auto dependent : data.graph.dependents[task]) {
      if (waiting[dependent].fetch_sub(1, std::memory_order_acq_rel) == 1) {
        group.run([this, dependent] { execute(dependent); });
      }
    }
  }

  GraphData &data;
  std::vector<std::atomic<int>> waiting;
  tbb::task_group group;
};

RunGraph counted(const std::shared_ptr<GraphData> &data) {
  auto graph = std::make_shared<CountedGraph>(*data);
  return [=] { return graph->run(); };
}

} // namespace

const Benchmarks countedDependencies = [] {
  auto benchmarks = graphBenchmarks<counted>();
  benchmarks["dependencies/chain"] = chain;
  benchmarks["dependencies/fan-in"] = fanIn;
  // The counters are kept from run to run in any case.
  benchmarks["dependencies/recorded"] = benchmarks["dependencies/tree"];
  return benchmarks;
}();
