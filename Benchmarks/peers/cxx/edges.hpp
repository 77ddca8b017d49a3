// Dependencies of schedulers that have edges of their own.
#pragma once

#include <memory>
#include <vector>

#include "graph.hpp"
#include "work.hpp"

template <typename Edges> Measure chain(const Request &request) {
  auto length = request.positive("param.length");
  std::vector<std::vector<uint32_t>> inputs(length);
  for (uint32_t task = 1; task < length; ++task) inputs[task] = {task - 1};
  auto tasks = std::make_shared<Graph>(inputs);
  auto order = std::make_shared<Order>(length);
  auto add = [=] { Edges::run(*tasks, [own = order.get()](uint32_t task) { own->visit(task); }); };
  return rounds(length, length - 1, add, [=] { order->verify(); });
}

template <typename Edges> Measure fanIn(const Request &request) {
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
  auto add = [=] { Edges::run(*tasks, [own = join.get()](uint32_t task) { own->execute(task); }); };
  return rounds(width + 1, width, add, [=] { join->verify(); });
}

/// `Edges::run(graph, body)` calls `body(task)` once for each task, after its inputs. It builds the graph, runs and
/// releases it, and gives the time from the first task added to the end of the last.
template <typename Edges> RunGraph onEdges(const std::shared_ptr<GraphData> &data) {
  return [=] { return Edges::run(data->graph, [own = data.get()](uint32_t task) { own->execute(task); }); };
}

/// `Kept(graph, body)` is a graph that is made once. Its `run()` calls `body(task)` once for each task, after its
/// inputs.
template <typename Kept> RunGraph onKeptEdges(const std::shared_ptr<GraphData> &data) {
  auto body = [own = data.get()](uint32_t task) { own->execute(task); };
  auto kept = std::make_shared<Kept>(data->graph, body);
  return [=] {
    auto began = now();
    kept->run();
    return now() - began;
  };
}

/// `dependencies/recorded`, of a scheduler whose graphs can be kept.
template <typename Edges, template <typename> typename Kept> Measure recorded(const Request &request) {
  if (request.text("param.run") == "first") return measureShape(request, onEdges<Edges>);
  return measureShape(request, onKeptEdges<Kept<std::function<void(uint32_t)>>>);
}

template <typename Edges> Benchmarks edgeBenchmarks() {
  auto benchmarks = graphBenchmarks<onEdges<Edges>>();
  benchmarks["dependencies/chain"] = chain<Edges>;
  benchmarks["dependencies/fan-in"] = fanIn<Edges>;
  return benchmarks;
}
