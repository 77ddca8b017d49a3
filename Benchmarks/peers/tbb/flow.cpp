// Dependencies as edges of a flow::graph: a continue_node for each task, an edge for each dependency, built, run and
// released each time, as operations are.
#include <tbb/flow_graph.h>

#include <deque>

#include "edges.hpp"
#include "families.hpp"

namespace {

struct Flow {
  template <typename Body> static uint64_t run(const Graph &tasks, const Body &body) {
    using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
    tbb::flow::graph graph;
    std::deque<Node> nodes;
    for (uint32_t task = 0; task < tasks.count(); ++task) {
      nodes.emplace_back(graph, [&body, task](const tbb::flow::continue_msg &) { body(task); });
      for (auto input : tasks.inputs[task]) make_edge(nodes[input], nodes[task]);
    }
    auto added = now();
    for (auto task : tasks.sources) nodes[task].try_put(tbb::flow::continue_msg());
    graph.wait_for_all();
    return now() - added;
  }
};

} // namespace

const Benchmarks flowDependencies = edgeBenchmarks<Flow>();
