// The benchmarks of opbench on oneTBB. Started by opbench for one cell at a time; scripts/peers builds it.
//
// Form: everything runs on one task_group inside a task_arena of `workers` slots, one of which is the main thread's: it
// adds work and takes part while it waits, as in every program that uses task_group. Graphs count unfinished inputs by hand
// and `run` what becomes ready. The other form that oneTBB offers, flow::graph with continue_nodes (`param.form=flow`),
// builds a node per task for each run, as the operation queues build an operation: on a 16 x 32 stencil it took about three
// times as long per task, so that the task_group, which is what its users take for speed, is the one that stands in the table.
#include <sys/resource.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// ---- What every peer has: the request, the clock, the protocol ----

using Request = std::map<std::string, std::string>;

const std::string &text(const Request &request, const std::string &key) {
  auto found = request.find(key);
  if (found == request.end()) throw std::runtime_error("the request has no " + key);
  return found->second;
}
uint64_t integer(const Request &request, const std::string &key) { return std::stoull(text(request, key)); }
double number(const Request &request, const std::string &key) { return std::stod(text(request, key)); }

uint64_t read(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}
uint64_t now() { return read(CLOCK_MONOTONIC); }

struct Counters {
  uint64_t wall, cpu;
  long voluntary, involuntary;

  static Counters read() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return {now(), ::read(CLOCK_PROCESS_CPUTIME_ID), usage.ru_nvcsw, usage.ru_nivcsw};
  }
};

struct Reading {
  std::string metric, unit;
  double value;
  uint64_t count;
  std::string detail = {};
};

struct Elapsed {
  uint64_t wall = 0, cpu = 0;
  long voluntary = 0, involuntary = 0;

  void add(const Counters &start) {
    auto end = Counters::read();
    wall += end.wall - start.wall;
    cpu += end.cpu - start.cpu;
    voluntary += end.voluntary - start.voluntary;
    involuntary += end.involuntary - start.involuntary;
  }

  std::vector<Reading> readings(uint64_t operations) const {
    double count = double(operations);
    return {{"ns_per_op", "ns", wall / count, operations},
            {"cpu_ns_per_op", "ns", cpu / count, operations},
            {"voluntary_switches_per_op", "switches", voluntary / count, operations},
            {"involuntary_switches_per_op", "switches", involuntary / count, operations}};
  }
};

/// Runs and checks so many repeats.
using Measure = std::function<std::vector<Reading>(uint64_t repeats)>;

void check(bool holds, const std::string &otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

/// The same arithmetic as opbench's own work.
void spin(uint64_t rounds) {
  uint64_t state = 0x9e3779b97f4a7c15;
  asm volatile("" : "+r"(state));
  for (uint64_t round = 0; round < rounds; ++round) state = (state ^ (state >> 29)) * 0xbf58476d1ce4e5b9;
  asm volatile("" : : "r"(state));
}

uint64_t roundsFor(double nanoseconds, double perMicrosecond) {
  return uint64_t(std::round(nanoseconds * perMicrosecond / 1000));
}

/// A word per operation: each ran exactly once.
class Flags {
public:
  explicit Flags(size_t count) : words(count, 0) {}
  uint32_t *slot(size_t index) { return &words[index]; }
  size_t ran() const { return std::count_if(words.begin(), words.end(), [](uint32_t word) { return word != 0; }); }
  void verify() {
    for (size_t index = 0; index < words.size(); ++index) {
      check(words[index] == 1, "operation " + std::to_string(index) + " ran " + std::to_string(words[index]) + " times");
      words[index] = 0;
    }
  }

private:
  std::vector<uint32_t> words;
};

void print(int index, const Reading &reading) {
  std::printf("reading\t%d\t%s\t%s\t%.17g\t%llu\t%s\n", index, reading.metric.c_str(), reading.unit.c_str(), reading.value,
              (unsigned long long)reading.count, reading.detail.c_str());
}

/// As Calibration.swift decides: at most ten times as many repeats at a time, and no more than a slower subject needed.
uint64_t calibrate(const Measure &measure, uint64_t target, uint64_t limit) {
  measure(1);
  uint64_t repeats = 1;
  while (true) {
    auto start = now();
    measure(repeats);
    auto took = std::max<uint64_t>(now() - start, 1);
    auto needed = std::max<uint64_t>(1, uint64_t(std::ceil(double(target) / (double(took) / double(repeats)))));
    if (took >= target) return std::min(needed, limit);
    if (repeats >= limit) return limit;
    repeats = std::min({std::max(needed, repeats + 1), repeats * 10, limit});
  }
}

void run(const Request &request, const Measure &measure) {
  if (text(request, "mode") == "calibrate") {
    std::printf("repeats\t%llu\n", (unsigned long long)calibrate(measure, integer(request, "target"), integer(request, "limit")));
  } else {
    auto repeats = integer(request, "repeats"), values = integer(request, "values"), warmups = integer(request, "warmups");
    auto start = now();
    for (uint64_t warmup = 0; warmup < warmups && now() - start < 500000000; ++warmup) measure(repeats);
    for (uint64_t value = 1; value <= values; ++value) {
      for (auto &reading : measure(repeats)) print(int(value), reading);
    }
  }
  std::printf("end\n");
}

// ---- overhead ----

/// task_group::run from the main thread. task_arena::enqueue, with which the main thread takes no part, goes through a
/// shared queue.
Measure externalAdd(const Request &request) {
  auto operations = integer(request, "param.ops");
  auto flags = std::make_shared<Flags>(operations);
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      auto start = Counters::read();
      tbb::task_group group;
      for (size_t index = 0; index < operations; ++index) {
        auto flag = flags->slot(index);
        group.run([flag] { ++*flag; });
      }
      group.wait();
      elapsed.add(start);
      flags->verify();
    }
    return elapsed.readings(operations * repeats);
  };
}

Measure localAdd(const Request &request) {
  auto operations = integer(request, "param.ops");
  auto flags = std::make_shared<Flags>(operations);
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      auto start = Counters::read();
      tbb::task_group group;
      group.run([&] {
        for (size_t index = 0; index < operations; ++index) {
          auto flag = flags->slot(index);
          group.run([flag] { ++*flag; });
        }
      });
      group.wait();
      elapsed.add(start);
      flags->verify();
    }
    return elapsed.readings(operations * repeats);
  };
}

// ---- dependencies ----

/// Each task runs the next as its last act.
struct Chain {
  explicit Chain(uint64_t length) : length(length) {}

  uint64_t length, visited = 0;
  bool inOrder = true;
  tbb::task_group group;

  void step(uint64_t index) {
    if (visited != index) inOrder = false;
    ++visited;
    if (index + 1 < length) group.run([this, index] { step(index + 1); });
  }
};

Measure chain(const Request &request) {
  auto length = integer(request, "param.length");
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      Chain chain(length);
      auto start = Counters::read();
      chain.group.run([&] { chain.step(0); });
      chain.group.wait();
      elapsed.add(start);
      check(chain.inOrder && chain.visited == length, "a chain ran " + std::to_string(chain.visited) + " tasks, or out of order");
    }
    auto readings = elapsed.readings(length * repeats);
    auto edges = (length - 1) * repeats;
    readings.push_back({"ns_per_edge", "ns", double(elapsed.wall) / double(std::max<uint64_t>(edges, 1)), edges});
    return readings;
  };
}

/// The join is what follows the wait.
Measure fanIn(const Request &request) {
  auto width = integer(request, "param.width");
  auto flags = std::make_shared<Flags>(width);
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      auto start = Counters::read();
      tbb::task_group group;
      for (size_t index = 0; index < width; ++index) {
        auto flag = flags->slot(index);
        group.run([flag] { ++*flag; });
      }
      group.wait();
      auto seen = flags->ran();
      elapsed.add(start);
      check(seen == width, "the join saw " + std::to_string(seen) + " inputs complete");
      flags->verify();
    }
    auto readings = elapsed.readings((width + 1) * repeats);
    auto edges = width * repeats;
    readings.push_back({"ns_per_edge", "ns", double(elapsed.wall) / double(std::max<uint64_t>(edges, 1)), edges});
    return readings;
  };
}

/// The graph as opbench wrote it: a line per task, its nanoseconds and the tasks it depends on.
struct Graph {
  std::vector<double> nanoseconds;
  std::vector<std::vector<uint32_t>> inputs, dependents;
  std::vector<uint32_t> sources;
  uint64_t edges = 0;

  explicit Graph(const std::string &path) {
    std::ifstream file(path);
    check(bool(file), "the graph " + path + " cannot be read");
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      double duration;
      fields >> duration;
      std::vector<uint32_t> own;
      uint32_t input;
      while (fields >> input) own.push_back(input);
      nanoseconds.push_back(duration);
      inputs.push_back(own);
    }
    dependents.resize(inputs.size());
    for (uint32_t task = 0; task < inputs.size(); ++task) {
      for (auto input : inputs[task]) dependents[input].push_back(task);
      if (inputs[task].empty()) sources.push_back(task);
      edges += inputs[task].size();
    }
  }
  size_t count() const { return inputs.size(); }
};

/// What flows along the edges: each task writes a word of its own for this run, each consumer checks those of all its inputs.
class GraphRun {
public:
  explicit GraphRun(const Graph &graph) : graph(graph), words(graph.count(), 0), rounds(graph.count()), waiting(graph.count()) {}

  void setWork(double scale, double perMicrosecond) {
    for (size_t task = 0; task < graph.count(); ++task) rounds[task] = roundsFor(graph.nanoseconds[task] * scale, perMicrosecond);
  }

  /// Runs the graph once; gives the time from the first task added to the end of the last.
  uint64_t counted(Elapsed &elapsed) {
    ++run;
    auto start = Counters::read();
    for (size_t task = 0; task < graph.count(); ++task) waiting[task].store(int(graph.inputs[task].size()), std::memory_order_relaxed);
    auto added = now();
    for (auto task : graph.sources) group.run([this, task] { execute(task); });
    group.wait();
    auto makespan = now() - added;
    elapsed.add(start);
    verify();
    return makespan;
  }

  /// The same with a node for every task and an edge for every dependency.
  uint64_t flow(Elapsed &elapsed) {
    ++run;
    using namespace tbb::flow;
    using Node = continue_node<continue_msg>;
    auto start = Counters::read();
    uint64_t makespan;
    {
      tbb::flow::graph nodes;
      std::vector<std::unique_ptr<Node>> all;
      all.reserve(graph.count());
      for (uint32_t task = 0; task < graph.count(); ++task) {
        all.push_back(std::make_unique<Node>(nodes, [this, task](const continue_msg &) { body(task); }));
        for (auto input : graph.inputs[task]) make_edge(*all[input], *all[task]);
      }
      auto added = now();
      for (auto task : graph.sources) all[task]->try_put(continue_msg());
      nodes.wait_for_all();
      makespan = now() - added;
    }
    elapsed.add(start);
    verify();
    return makespan;
  }

private:
  uint64_t word(uint32_t task) const { return run << 32 | task; }

  void body(uint32_t task) {
    for (auto input : graph.inputs[task]) {
      if (words[input] != word(input)) wrong.fetch_add(1, std::memory_order_relaxed);
    }
    if (words[task] == word(task)) wrong.fetch_add(1, std::memory_order_relaxed);
    spin(rounds[task]);
    words[task] = word(task);
  }

  void execute(uint32_t task) {
    body(task);
    for (auto dependent : graph.dependents[task]) {
      if (waiting[dependent].fetch_sub(1, std::memory_order_acq_rel) == 1) group.run([this, dependent] { execute(dependent); });
    }
  }

  void verify() {
    size_t missing = 0;
    for (uint32_t task = 0; task < graph.count(); ++task) missing += words[task] != word(task);
    check(missing == 0 && wrong.load() == 0, std::to_string(missing) + " tasks did not run, and " + std::to_string(wrong.load()) + " ran twice or before an input");
  }

  const Graph &graph;
  std::vector<uint64_t> words, rounds;
  std::vector<std::atomic<int>> waiting;
  std::atomic<int> wrong{0};
  uint64_t run = 0;
  tbb::task_group group;
};

Measure graph(const Request &request) {
  auto graph = std::make_shared<Graph>(text(request, "graph"));
  auto data = std::make_shared<GraphRun>(*graph);
  data->setWork(1, number(request, "rounds_per_microsecond"));
  auto bound = number(request, "bound_ns");
  auto form = request.find("param.form");
  bool flow = form != request.end() && form->second == "flow";
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    uint64_t total = 0;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) total += flow ? data->flow(elapsed) : data->counted(elapsed);
    auto readings = elapsed.readings(graph->count() * repeats);
    auto edges = graph->edges * repeats;
    if (edges > 0) readings.push_back({"ns_per_edge", "ns", double(elapsed.wall) / double(edges), edges});
    auto makespan = double(total) / double(repeats);
    readings.push_back({"makespan_ns", "ns", makespan, repeats});
    if (bound > 0) readings.push_back({"efficiency", "ratio", bound / makespan, repeats});
    return readings;
  };
}

/// The shortest makespan for each granularity, of a graph whose work shrinks by half from run to run: as GranularitySweep.swift
/// does it, which also gave the limits. opbench derives METG from what is printed here.
class Sweep {
public:
  Sweep(const Request &request, std::shared_ptr<Graph> graph)
      : graph(graph), data(*graph), spinRate(number(request, "rounds_per_microsecond")), load(number(request, "load")),
        cores(number(request, "cores")), peak(number(request, "peak")), first(number(request, "sweep_first")),
        largest(number(request, "sweep_largest")), smallest(number(request, "sweep_smallest")),
        plenty(number(request, "sweep_plenty")), little(number(request, "sweep_little")),
        enough(number(request, "sweep_enough")), gain(number(request, "sweep_gain")), step(number(request, "sweep_step")),
        runTime(number(request, "sweep_run_time")), runs(integer(request, "sweep_runs")),
        attempts(integer(request, "sweep_attempts")) {}

  std::vector<Reading> run(uint64_t sweeps) {
    if (top == 0) findTop();
    std::map<double, double> shortest;
    for (uint64_t sweep = 0; sweep < sweeps + attempts; ++sweep) {
      // More sweeps than asked for only where others had the CPUs.
      if (sweep >= sweeps && std::any_of(shortest.begin(), shortest.end(), [&](auto &run) { return efficiency(run.first, run.second) >= 0.5; })) break;
      double reached = INFINITY;
      for (double work = top; work >= smallest && reached >= little; work /= step) {
        auto found = shortest.emplace(work, INFINITY).first;
        found->second = std::min(found->second, best(work));
        reached = efficiency(work, found->second);
      }
    }
    std::vector<Reading> readings;
    for (auto run = shortest.rbegin(); run != shortest.rend(); ++run) {
      char detail[64];
      std::snprintf(detail, sizeof detail, "work_ns=%.17g", run->first);
      readings.push_back({"makespan_ns", "ns", run->second, graph->count(), detail});
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
    data.setWork(work, spinRate);
    double shortest = INFINITY, total = 0;
    for (uint64_t run = 0; run < runs && total < runTime; ++run) {
      Elapsed elapsed;
      data.counted(elapsed);
      shortest = std::min(shortest, double(elapsed.wall));
      total += double(elapsed.wall);
    }
    return shortest;
  }

  std::shared_ptr<Graph> graph;
  GraphRun data;
  double spinRate, load, cores, peak, first, largest, smallest, plenty, little, enough, gain, step, runTime;
  uint64_t runs, attempts;
  double top = 0;
};

Measure metg(const Request &request) {
  auto sweep = std::make_shared<Sweep>(request, std::make_shared<Graph>(text(request, "graph")));
  return [=](uint64_t repeats) { return sweep->run(repeats); };
}

// ---- forkjoin: trees whose nodes contribute to one sum, as in ForkJoinTree.swift ----

/// A task_group for the children of a node, the last of which its own task goes on with: the form of oneTBB's own examples.
template <typename Tree> uint64_t solve(const Tree &tree, const typename Tree::Node &node) {
  auto count = tree.childCount(node);
  if (count == 0) return tree.value(node);
  uint64_t sums[Tree::mostChildren];
  tbb::task_group group;
  tree.forEachChild(node, count, [&](uint32_t index, const typename Tree::Node &child) {
    auto sum = &sums[index];
    if (index + 1 < count) group.run([&tree, child, sum] { *sum = solve(tree, child); });
    else *sum = solve(tree, child);
  });
  group.wait();
  auto total = tree.value(node);
  for (uint32_t index = 0; index < count; ++index) total += sums[index];
  return total;
}

/// Plain recursion on one thread.
template <typename Tree> uint64_t serial(const Tree &tree, const typename Tree::Node &node) {
  auto sum = tree.value(node);
  auto count = tree.childCount(node);
  if (count > 0) tree.forEachChild(node, count, [&](uint32_t, const typename Tree::Node &child) { sum += serial(tree, child); });
  return sum;
}

template <typename Tree> uint64_t taskCount(const Tree &tree, const typename Tree::Node &node) {
  uint64_t tasks = 1;
  auto count = tree.childCount(node);
  if (count > 0) tree.forEachChild(node, count, [&](uint32_t, const typename Tree::Node &child) { tasks += taskCount(tree, child); });
  return tasks;
}

struct Fib {
  using Node = uint32_t;
  static constexpr uint32_t mostChildren = 2;
  Node root;

  explicit Fib(const Request &request) : root(integer(request, "param.n")) {}
  uint64_t value(Node node) const { return node < 2 ? node : 0; }
  uint32_t childCount(Node node) const { return node < 2 ? 0 : 2; }
  template <typename Body> void forEachChild(Node node, uint32_t, const Body &body) const {
    body(0, node - 1);
    body(1, node - 2);
  }
};

struct Skynet {
  struct Node {
    uint64_t first, leaves;
  };
  static constexpr uint32_t mostChildren = 10;
  Node root;

  explicit Skynet(const Request &request) : root{0, integer(request, "param.leaves")} {}
  uint64_t value(const Node &node) const { return node.leaves == 1 ? node.first : 0; }
  uint32_t childCount(const Node &node) const { return node.leaves == 1 ? 0 : mostChildren; }
  template <typename Body> void forEachChild(const Node &node, uint32_t count, const Body &body) const {
    auto share = node.leaves / mostChildren;
    for (uint32_t index = 0; index < count; ++index) body(index, Node{node.first + index * share, share});
  }
};

struct Queens {
  struct Node {
    uint32_t row, columns, left, right;
  };
  static constexpr uint32_t mostChildren = 32;
  uint32_t n;
  Node root{0, 0, 0, 0};

  explicit Queens(const Request &request) : n(integer(request, "param.n")) {}
  uint64_t value(const Node &node) const { return node.row == n; }
  uint32_t childCount(const Node &node) const { return node.row == n ? 0 : __builtin_popcount(free(node)); }
  template <typename Body> void forEachChild(const Node &node, uint32_t, const Body &body) const {
    uint32_t index = 0;
    for (auto left = free(node); left != 0; left &= left - 1) {
      auto square = left & -left;
      body(index++, Node{node.row + 1, node.columns | square, (node.left | square) << 1, (node.right | square) >> 1});
    }
  }
  uint32_t free(const Node &node) const { return ~(node.columns | node.left | node.right) & ((1u << n) - 1); }
};

/// SHA-1 (FIPS 180-4) of one block, which defines the random numbers of Unbalanced Tree Search.
struct Digest {
  uint32_t words[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

  static uint32_t rotate(uint32_t word, int bits) { return word << bits | word >> (32 - bits); }

  Digest(const uint32_t *message, uint32_t count) {
    uint32_t block[16] = {};
    std::copy(message, message + count, block);
    block[count] = 0x80000000;
    block[15] = count * 32;
    auto [a, b, c, d, e] = words;
    for (int round = 0; round < 80; ++round) {
      auto &word = block[round & 15];
      if (round >= 16) word = rotate(block[(round - 3) & 15] ^ block[(round - 8) & 15] ^ block[(round - 14) & 15] ^ word, 1);
      uint32_t mixed = round < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                       : round < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                       : round < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                    : (b ^ c ^ d) + 0xca62c1d6;
      auto sum = rotate(a, 5) + mixed + e + word;
      e = d, d = c, c = rotate(b, 30), b = a, a = sum;
    }
    words[0] += a, words[1] += b, words[2] += c, words[3] += d, words[4] += e;
  }
};

/// T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift.
struct GeometricTree {
  struct Node {
    Digest state;
    uint32_t depth;
  };
  static constexpr uint32_t mostChildren = 100;
  static constexpr uint32_t seed[5] = {0, 0, 0, 0, 19};
  uint32_t depth, cutoff;
  double logarithm = std::log(1 - 1 / (1 + 4.0));
  Node root{Digest(seed, 5), 0};

  explicit GeometricTree(const Request &request) : depth(integer(request, "param.depth")), cutoff(integer(request, "param.cutoff")) {}
  uint64_t value(const Node &node) const { return node.depth < cutoff ? 1 : nodes(node); }
  uint32_t childCount(const Node &node) const { return node.depth < cutoff ? branches(node) : 0; }
  template <typename Body> void forEachChild(const Node &node, uint32_t count, const Body &body) const {
    for (uint32_t index = 0; index < count; ++index) body(index, child(node, index));
  }
  uint64_t nodes(const Node &node) const {
    uint64_t sum = 1;
    auto count = branches(node);
    for (uint32_t index = 0; index < count; ++index) sum += nodes(child(node, index));
    return sum;
  }
  static Node child(const Node &node, uint32_t index) {
    uint32_t message[6];
    std::copy(node.state.words, node.state.words + 5, message);
    message[5] = index;
    return {Digest(message, 6), node.depth + 1};
  }
  uint32_t branches(const Node &node) const {
    if (node.depth >= depth) return 0;
    auto uniform = double(node.state.words[4] & 0x7fffffff) / 2147483648.0;
    return std::min(uint32_t(std::log(1 - uniform) / logarithm), mostChildren);
  }
};

template <typename Tree> Measure forkJoin(const Request &request) {
  auto tree = std::make_shared<Tree>(request);
  auto tasks = integer(request, "tasks"), expected = integer(request, "expected");
  check(taskCount(*tree, tree->root) == tasks, "the tree has another number of tasks than " + std::to_string(tasks));
  // The median of at least three runs and two milliseconds.
  std::vector<double> times;
  auto begin = now();
  while (times.empty() || (now() - begin < 500000000 && (times.size() < 3 || now() - begin < 2000000))) {
    auto start = now();
    auto root = tree->root;
    // The optimiser does not know that it is the same tree again.
    asm volatile("" : "+m"(root));
    auto found = serial(*tree, root);
    times.push_back(double(now() - start));
    check(found == expected, "the result of plain recursion is " + std::to_string(found));
  }
  std::sort(times.begin(), times.end());
  auto middle = times.size() / 2;
  auto alone = times.size() % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      auto start = Counters::read();
      auto found = solve(*tree, tree->root);
      elapsed.add(start);
      check(found == expected, "the result is " + std::to_string(found) + " instead of " + std::to_string(expected));
    }
    auto readings = elapsed.readings(tasks * repeats);
    readings.push_back({"speedup", "ratio", alone * double(repeats) / double(elapsed.wall), repeats});
    return readings;
  };
}

const std::map<std::string, Measure (*)(const Request &)> benchmarks = {
    {"overhead/external-add", externalAdd}, {"overhead/local-add", localAdd}, {"dependencies/chain", chain},
    {"dependencies/fan-in", fanIn},         {"dependencies/graph", graph},       {"dependencies/metg", metg},
    {"forkjoin/fib", forkJoin<Fib>},        {"forkjoin/skynet", forkJoin<Skynet>}, {"forkjoin/nqueens", forkJoin<Queens>},
    {"forkjoin/uts", forkJoin<GeometricTree>},
};

} // namespace

int main(int count, char **arguments) {
  if (count == 2 && std::string(arguments[1]) == "version") {
    std::printf("oneTBB %s, g++ %s\n", TBB_VERSION_STRING, __VERSION__);
    return 0;
  }
  try {
    Request request;
    for (int index = 1; index < count; ++index) {
      std::string argument = arguments[index];
      auto equals = argument.find('=');
      check(equals != std::string::npos, "'" + argument + "' is not key=value");
      request[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
    auto found = benchmarks.find(text(request, "benchmark"));
    check(found != benchmarks.end(), "there is no " + text(request, "benchmark") + " on tbb");
    auto workers = integer(request, "workers");
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    tbb::task_arena arena{int(workers)};
    arena.execute([&] { run(request, found->second(request)); });
  } catch (const std::exception &error) {
    std::printf("failure\t%s\n", error.what());
  }
  std::fflush(stdout);
  std::_Exit(0);
}
