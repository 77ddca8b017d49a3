#include "graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "work.hpp"

Graph::Graph(const std::string &path) {
  std::ifstream file(path);
  check(bool(file), "the graph " + path + " cannot be read");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    double duration;
    check(bool(fields >> duration), "the graph has no duration in '" + line + "'");
    std::vector<uint32_t> own;
    uint32_t input;
    while (fields >> input) own.push_back(input);
    check(fields.eof(), "the graph has no list of tasks in '" + line + "'");
    nanoseconds.push_back(duration);
    inputs.push_back(own);
  }
  connect();
}

Graph::Graph(std::vector<std::vector<uint32_t>> inputs) : nanoseconds(inputs.size(), 0), inputs(std::move(inputs)) {
  connect();
}

void Graph::connect() {
  dependents.resize(inputs.size());
  for (uint32_t task = 0; task < inputs.size(); ++task) {
    for (auto input : inputs[task]) {
      check(input < task, "a task of the graph stands before an input");
      dependents[input].push_back(task);
    }
    if (inputs[task].empty()) sources.push_back(task);
    edges += inputs[task].size();
  }
}

void GraphData::setWork(double scale, double perMicrosecond) {
  for (size_t task = 0; task < graph.count(); ++task) {
    rounds[task] = roundsFor(graph.nanoseconds[task] * scale, perMicrosecond);
  }
}

void GraphData::execute(uint32_t task) {
  for (auto input : graph.inputs[task]) {
    if (words[input] != word(input)) wrong.fetch_add(1, std::memory_order_relaxed);
  }
  if (words[task] == word(task)) wrong.fetch_add(1, std::memory_order_relaxed);
  spin(rounds[task]);
  words[task] = word(task);
}

void GraphData::verify() const {
  size_t missing = 0;
  for (uint32_t task = 0; task < graph.count(); ++task) missing += words[task] != word(task);
  check(missing == 0 && wrong.load() == 0, std::to_string(missing) + " tasks did not run, and " +
                                               std::to_string(wrong.load()) + " ran twice or before an input");
}

// ---- Measures ----

namespace {

/// A graph, and a way to run it.
struct Runner {
  std::shared_ptr<GraphData> data;
  RunGraph run;

  Runner(const Request &request, Scheduler scheduler)
      : data(std::make_shared<GraphData>(request.text("graph"))), run(scheduler(data)) {}

  uint64_t once(Elapsed &elapsed) const {
    data->begin();
    auto start = Counters::read();
    auto makespan = run();
    elapsed.add(start);
    data->verify();
    return makespan;
  }
};

/// The shortest makespan for each granularity, of a graph whose work shrinks from run to run: as GranularitySweep.swift
/// does it, which also gave the limits. opbench derives METG from what is printed here.
class Sweep {
public:
  Sweep(const Request &request, Scheduler scheduler)
      : runner(request, scheduler), spinRate(request.number("rounds_per_microsecond")), load(request.number("load")),
        cores(request.number("cores")), peak(request.number("peak")), first(request.number("sweep_first")),
        largest(request.number("sweep_largest")), smallest(request.number("sweep_smallest")),
        plenty(request.number("sweep_plenty")), little(request.number("sweep_little")),
        enough(request.number("sweep_enough")), gain(request.number("sweep_gain")), step(request.number("sweep_step")),
        runTime(request.number("sweep_run_time")), runs(request.count("sweep_runs")),
        attempts(request.count("sweep_attempts")), lowInARow(request.count("sweep_low_in_a_row")) {}

  std::vector<Reading> run(uint64_t sweeps) {
    if (top == 0) findTop();
    std::map<double, double> shortest;
    auto isReached = [&] {
      return std::any_of(shortest.begin(), shortest.end(),
                         [&](auto &run) { return efficiency(run.first, run.second) >= 0.5; });
    };
    for (uint64_t sweep = 0; sweep < sweeps + attempts; ++sweep) {
      // More sweeps than asked for only where others had the CPUs.
      if (sweep >= sweeps && isReached()) break;
      uint64_t low = 0;
      for (double work = top; work >= smallest && low < lowInARow; work /= step) {
        auto found = shortest.emplace(work, INFINITY).first;
        found->second = std::min(found->second, best(work));
        low = efficiency(work, found->second) < little ? low + 1 : 0;
      }
    }
    std::vector<Reading> readings;
    for (auto run = shortest.rbegin(); run != shortest.rend(); ++run) {
      char detail[64];
      std::snprintf(detail, sizeof detail, "work_ns=%.17g", run->first);
      readings.push_back({"makespan_ns", "ns", run->second, runner.data->graph.count(), detail});
    }
    return readings;
  }

private:
  void findTop() {
    top = first;
    auto reached = efficiency(top, best(top));
    while (top < largest && reached < plenty) {
      auto next = efficiency(top * 2, best(top * 2));
      if (reached > enough && next < reached + gain) break;
      top *= 2;
      reached = next;
    }
  }

  double efficiency(double work, double makespan) const { return work * load / (makespan * cores) / peak; }

  double best(double work) {
    runner.data->setWork(work, spinRate);
    double shortest = INFINITY, total = 0;
    for (uint64_t run = 0; run < runs && total < runTime; ++run) {
      Elapsed elapsed;
      runner.once(elapsed);
      shortest = std::min(shortest, double(elapsed.wall));
      total += double(elapsed.wall);
    }
    return shortest;
  }

  Runner runner;
  double spinRate, load, cores, peak, first, largest, smallest, plenty, little, enough, gain, step, runTime;
  uint64_t runs, attempts, lowInARow;
  double top = 0;
};

} // namespace

Measure measureGraph(const Request &request, Scheduler scheduler) {
  Runner runner(request, scheduler);
  runner.data->setWork(1, request.number("rounds_per_microsecond"));
  auto bound = request.number("bound_ns");
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    uint64_t total = 0;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) total += runner.once(elapsed);
    auto &graph = runner.data->graph;
    auto readings = elapsed.readings(graph.count() * repeats, graph.edges * repeats);
    auto makespan = double(total) / double(repeats);
    readings.push_back({"makespan_ns", "ns", makespan, repeats});
    if (bound > 0) readings.push_back({"efficiency", "ratio", bound / makespan, repeats});
    return readings;
  };
}

/// A graph without work: what a task and a dependency cost.
Measure measureShape(const Request &request, Scheduler scheduler) {
  Runner runner(request, scheduler);
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) runner.once(elapsed);
    auto &graph = runner.data->graph;
    return elapsed.readings(graph.count() * repeats, graph.edges * repeats);
  };
}

Measure measureGranularity(const Request &request, Scheduler scheduler) {
  auto sweep = std::make_shared<Sweep>(request, scheduler);
  return [=](uint64_t repeats) { return sweep->run(repeats); };
}
