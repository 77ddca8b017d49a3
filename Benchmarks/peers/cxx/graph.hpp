// Task graphs: their shape, the data that flows along their edges, and the measures that all ways of running one share.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol.hpp"

/// In an order in which every task stands after all its inputs.
struct Graph {
  std::vector<double> nanoseconds;
  std::vector<std::vector<uint32_t>> inputs, dependents;
  std::vector<uint32_t> sources;
  uint64_t edges = 0;

  /// As opbench wrote it: a line per task, its nanoseconds and the tasks it depends on.
  explicit Graph(const std::string &path);
  /// Without work.
  explicit Graph(std::vector<std::vector<uint32_t>> inputs);
  size_t count() const { return inputs.size(); }

private:
  void connect();
};

/// What flows along the edges: each task writes a word of its own for this run, each consumer checks those of all its
/// inputs.
class GraphData {
public:
  const Graph graph;

  explicit GraphData(const std::string &path) : graph(path), words(graph.count(), 0), rounds(graph.count(), 0) {}
  void setWork(double scale, double perMicrosecond);
  void begin() { ++run; }
  /// The body of a task.
  void execute(uint32_t task);
  void verify() const;

private:
  uint64_t word(uint32_t task) const { return run << 32 | task; }

  std::vector<uint64_t> words, rounds;
  std::atomic<int> wrong{0};
  uint64_t run = 0;
};

/// Runs the graph once, building and releasing it included; gives the time from the first task added to the end of the
/// last.
using RunGraph = std::function<uint64_t()>;

/// What makes a graph ready to be run, in one way.
using Scheduler = RunGraph (*)(const std::shared_ptr<GraphData> &);

Measure measureGraph(const Request &request, Scheduler scheduler);
Measure measureShape(const Request &request, Scheduler scheduler);
Measure measureGranularity(const Request &request, Scheduler scheduler);

/// The benchmarks on the graph that opbench hands over.
template <Scheduler scheduler> Benchmarks graphBenchmarks() {
  Prepare shape = [](const Request &request) { return measureShape(request, scheduler); };
  return {
      {"dependencies/graph", [](const Request &request) { return measureGraph(request, scheduler); }},
      {"dependencies/metg", [](const Request &request) { return measureGranularity(request, scheduler); }},
      {"dependencies/tree", shape},
      {"dependencies/fan-out", shape},
      {"dependencies/diamond", shape},
  };
}
