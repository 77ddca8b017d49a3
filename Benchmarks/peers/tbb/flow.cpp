// Dependencies as edges of a flow::graph: a continue_node for each task, an edge for each dependency. The graph is
// built, run and released each time, as operations are, or kept.
#include <tbb/flow_graph.h>

#include <deque>

#include "edges.hpp"
#include "families.hpp"

namespace {

template <typename Body> class KeptFlow {
public:
  KeptFlow(const Graph &tasks, Body body) : tasks(tasks), body(std::move(body)) {
    for (uint32_t task = 0; task < tasks.count(); ++task) {
      nodes.emplace_back(graph, [this, task](const tbb::flow::continue_msg &) { this->body(task); });
      for (auto input : tasks.inputs[task]) make_edge(nodes[input], nodes[task]);
    }
  }

  void run() {
    for (auto task : tasks.sources) nodes[task].try_put(tbb::flow::continue_msg());
    graph.wait_for_all();
  }

private:
  const Graph &tasks;
  const Body body;
  tbb::flow::graph graph;
  std::deque<tbb::flow::continue_node<tbb::flow::continue_msg>> nodes;
};

struct Flow {
  template <typename Body> static uint64_t run(const Graph &tasks, const Body &body) {
    KeptFlow<Body> flow(tasks, body);
    auto added = now();
    flow.run();
    return now() - added;
  }
};

} // namespace

const Benchmarks flowDependencies = [] {
  auto benchmarks = edgeBenchmarks<Flow>();
  benchmarks["dependencies/recorded"] = recorded<Flow, KeptFlow>;
  return benchmarks;
}();
