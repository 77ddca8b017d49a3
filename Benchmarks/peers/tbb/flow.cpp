// Dependencies as edges of a flow::graph: a continue_node for each task, an edge for each dependency, built, run and released
// each time, as operations are.
#include <tbb/flow_graph.h>

#include <deque>
#include <memory>
#include <vector>

#include "families.hpp"
#include "graph.hpp"
#include "work.hpp"

namespace {

/// Gives the time from the first task added to the end of the last.
template <typename Body> uint64_t runOnce(const Graph &tasks, const Body &body) {
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

Measure chain(const Request &request) {
  auto length = request.positive("param.length");
  std::vector<std::vector<uint32_t>> inputs(length);
  for (uint32_t task = 1; task < length; ++task) inputs[task] = {task - 1};
  auto tasks = std::make_shared<Graph>(inputs);
  auto order = std::make_shared<Order>(length);
  auto add = [=] { runOnce(*tasks, [own = order.get()](uint32_t task) { own->visit(task); }); };
  return rounds(length, length - 1, add, [=] { order->verify(); });
}

Measure fanIn(const Request &request) {
  struct Join {
    uint32_t width;
    Flags flags;
    size_t seen = 0, arrivals = 0;

    explicit Join(uint32_t width) : width(width), flags(width) {}
    void execute(uint32_t task) {
      if (task < width) {
        ++*flags.slot(task);
      } else {
        seen = flags.ran();
        ++arrivals;
      }
    }
    void verify() {
      check(arrivals == 1 && seen == width,
            "the join ran " + std::to_string(arrivals) + " times and saw " + std::to_string(seen) + " inputs complete");
      arrivals = 0;
      flags.verify();
    }
  };
  auto width = request.positive("param.width");
  std::vector<std::vector<uint32_t>> inputs(width + 1);
  for (uint32_t task = 0; task < width; ++task) inputs[width].push_back(task);
  auto tasks = std::make_shared<Graph>(inputs);
  auto join = std::make_shared<Join>(width);
  auto add = [=] { runOnce(*tasks, [own = join.get()](uint32_t task) { own->execute(task); }); };
  return rounds(width + 1, width, add, [=] { join->verify(); });
}

RunGraph flow(const std::shared_ptr<GraphData> &data) {
  return [=] { return runOnce(data->graph, [own = data.get()](uint32_t task) { own->execute(task); }); };
}

} // namespace

const Benchmarks flowDependencies = [] {
  auto benchmarks = graphBenchmarks<flow>();
  benchmarks["dependencies/chain"] = chain;
  benchmarks["dependencies/fan-in"] = fanIn;
  return benchmarks;
}();
