// Trees whose nodes contribute to one sum, as in ForkJoinTree.swift. How a scheduler runs the tasks of one is the
// solver's.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "UnbalancedTree.h"
}
#include "beside.hpp"
#include "work.hpp"

/// Plain recursion on one thread, a call for each node: compilers differ in how many levels they would unfold into one.
template <typename Tree> [[gnu::noinline]] uint64_t serial(const Tree &tree, typename Tree::Node node) {
  auto sum = tree.value(node);
  if (!tree.isLeaf(node)) {
    tree.forEachChild(node, tree.childCount(node), [&](uint32_t, const typename Tree::Node &child) { sum += serial(tree, child); });
  }
  return sum;
}

template <typename Tree> uint64_t taskCount(const Tree &tree, const typename Tree::Node &node) {
  uint64_t tasks = 1;
  auto count = tree.childCount(node);
  if (count > 0) {
    tree.forEachChild(node, count, [&](uint32_t, const typename Tree::Node &child) { tasks += taskCount(tree, child); });
  }
  return tasks;
}

/// The sum over all nodes of a tree, with a task for each child of a node but the last, with which the node's own task
/// goes on. A `Group` runs tasks and waits for them.
template <typename Group, typename Tree> uint64_t groupedSum(const Tree &tree, const typename Tree::Node &node) {
  auto count = tree.childCount(node);
  if (count == 0) return tree.value(node);
  uint64_t sums[Tree::mostChildren];
  Group group;
  tree.forEachChild(node, count, [&](uint32_t index, const typename Tree::Node &child) {
    auto slot = &sums[index];
    if (index + 1 < count) group.run([&tree, child, slot] { *slot = groupedSum<Group>(tree, child); });
    else *slot = groupedSum<Group>(tree, child);
  });
  group.wait();
  auto total = tree.value(node);
  for (uint32_t index = 0; index < count; ++index) total += sums[index];
  return total;
}

/// A child of a node and the sum of its nodes, for schedulers that begin with a task when all its siblings are known.
template <typename Tree> struct Child {
  union {
    typename Tree::Node node;
  };
  uint64_t sum;

  Child() {}
  static void fill(Child *children, const Tree &tree, const typename Tree::Node &parent, uint32_t count) {
    tree.forEachChild(parent, count, [&](uint32_t index, const typename Tree::Node &child) {
      new (&children[index].node) typename Tree::Node(child);
    });
  }
  static uint64_t total(const Child *children, const Tree &tree, const typename Tree::Node &parent, uint32_t count) {
    auto total = tree.value(parent);
    for (uint32_t index = 0; index < count; ++index) total += children[index].sum;
    return total;
  }
};

struct Fib {
  using Node = uint32_t;
  static constexpr uint32_t mostChildren = 2;
  Node root;

  explicit Fib(const Request &request) : root(request.count("param.n")) {}
  uint64_t value(Node node) const { return node < 2 ? node : 0; }
  bool isLeaf(Node node) const { return node < 2; }
  uint32_t childCount(Node node) const { return isLeaf(node) ? 0 : 2; }
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

  explicit Skynet(const Request &request) : root{0, request.count("param.leaves")} {}
  bool isLeaf(const Node &node) const { return node.leaves == 1; }
  uint64_t value(const Node &node) const { return isLeaf(node) ? node.first : 0; }
  uint32_t childCount(const Node &node) const { return isLeaf(node) ? 0 : mostChildren; }
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

  explicit Queens(const Request &request) : n(request.count("param.n")) {}
  bool isLeaf(const Node &node) const { return node.row == n; }
  uint64_t value(const Node &node) const { return isLeaf(node); }
  uint32_t childCount(const Node &node) const { return isLeaf(node) ? 0 : __builtin_popcount(free(node)); }
  template <typename Body> void forEachChild(const Node &node, uint32_t, const Body &body) const {
    uint32_t index = 0;
    for (auto left = free(node); left != 0; left &= left - 1) {
      auto square = left & -left;
      body(index++, Node{node.row + 1, node.columns | square, (node.left | square) << 1, (node.right | square) >> 1});
    }
  }
  uint32_t free(const Node &node) const { return ~(node.columns | node.left | node.right) & ((1u << n) - 1); }
};

/// T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift.
struct GeometricTree {
  using Node = uts_node;
  static constexpr uint32_t mostChildren = uts_most_children;
  uint32_t depth, cutoff;
  Node root = uts_root(19);

  explicit GeometricTree(const Request &request) : depth(request.count("param.depth")), cutoff(request.count("param.cutoff")) {}
  bool isLeaf(const Node &node) const { return node.depth >= cutoff; }
  uint64_t value(const Node &node) const { return isLeaf(node) ? uts_nodes(node, depth) : 1; }
  uint32_t childCount(const Node &node) const { return isLeaf(node) ? 0 : uts_children(node, depth); }
  template <typename Body> void forEachChild(const Node &node, uint32_t count, const Body &body) const {
    for (uint32_t index = 0; index < count; ++index) body(index, uts_child(node, index));
  }
};

/// Bodies of one length, divided into halves; see ForkBreakEven.swift.
struct Halving {
  struct Node {
    uint64_t first, bodies;
  };
  static constexpr uint32_t mostChildren = 2;
  uint64_t rounds;
  Node root;

  Halving(uint64_t bodies, uint64_t rounds) : rounds(rounds), root{0, bodies} {}
  bool isLeaf(const Node &node) const { return node.bodies == 1; }
  uint64_t value(const Node &node) const {
    if (!isLeaf(node)) return 0;
    if (rounds > 0) spin(rounds);
    return node.first;
  }
  uint32_t childCount(const Node &node) const { return isLeaf(node) ? 0 : mostChildren; }
  template <typename Body> void forEachChild(const Node &node, uint32_t, const Body &body) const {
    auto half = node.bodies / 2;
    body(0, Node{node.first, half});
    body(1, Node{node.first + half, node.bodies - half});
  }
};

/// Solves the problems of a sweep by plain recursion and by the solver, by turns, as BreakEvenSweep does in Swift.
/// opbench derives where forking pays from the times. The main thread is one of the team, so `from` changes nothing.
template <typename Solver> class BreakEvenSweep {
public:
  explicit BreakEvenSweep(const Request &request)
      : least(request.number("sweep_least")), turns(request.positive("sweep_turns")), pause(request.count("sweep_pause")),
        most(request.positive("sweep_most")) {
    auto from = request.text("param.from");
    check(from == "worker" || from == "outside", "from is worker or outside, not " + from);
    std::istringstream problems(request.text("sweep_problems"));
    for (std::string problem; std::getline(problems, problem, ',');) {
      char colon = 0;
      uint64_t bodies = 0;
      double body = 0;
      std::istringstream fields(problem);
      check(bool(fields >> bodies >> colon >> body) && colon == ':' && bodies > 0, "'" + problem + "' is no problem");
      auto detail = "bodies=" + std::to_string(bodies) + ";body_ns=" + problem.substr(problem.find(':') + 1);
      trees.push_back({Halving(bodies, roundsFor(body, request.number("rounds_per_microsecond"))), detail});
    }
    check(!trees.empty(), "the request has no problems");
  }

  std::vector<Reading> run(uint64_t sweeps) const {
    std::vector<Reading> readings;
    for (auto &[tree, detail] : trees) {
      auto solvePlain = [&tree = tree] {
        auto root = tree.root;
        asm volatile("" : "+m"(root));
        return serial(tree, root);
      };
      auto solveForked = [&tree = tree] { return Solver::solve(tree); };
      auto plain = times(tree, solvePlain), many = times(tree, solveForked);
      std::vector<double> alone, forked;
      for (uint64_t turn = 0; turn < turns * sweeps; ++turn) {
        alone.push_back(time(tree, plain, solvePlain));
        forked.push_back(time(tree, many, solveForked));
      }
      readings.push_back({"serial_ns", "ns", median(alone), tree.root.bodies, detail});
      readings.push_back({"makespan_ns", "ns", median(forked), tree.root.bodies, detail});
    }
    return readings;
  }

private:
  /// How often to solve a problem, so that the time is filled.
  template <typename Solve> uint64_t times(const Halving &tree, const Solve &solve) const {
    for (uint64_t times = 1;;) {
      auto needed = std::min(most, uint64_t(std::ceil(least / time(tree, times, solve))));
      if (needed <= times) return std::max<uint64_t>(1, needed);
      times = std::min(needed, times * 10);
    }
  }

  /// The nanoseconds of one solution.
  template <typename Solve> double time(const Halving &tree, uint64_t times, const Solve &solve) const {
    uint64_t sum = 0, paused = 0;
    auto start = now();
    for (uint64_t each = 0; each < times; ++each) {
      sum += solve();
      if (pause > 0) paused += idle();
    }
    auto took = std::max<uint64_t>(1, now() - start - paused);
    auto expected = tree.root.bodies * (tree.root.bodies - 1) / 2 * times;
    check(sum == expected, "the result is " + std::to_string(sum) + " instead of " + std::to_string(expected));
    return double(took) / double(times);
  }

  /// Is busy while other threads fall asleep. Returns the nanoseconds that this took.
  uint64_t idle() const {
    auto start = now();
    while (now() - start < pause) {
    }
    return now() - start;
  }

  double least;
  uint64_t turns, pause, most;
  std::vector<std::pair<Halving, std::string>> trees;
};

template <typename Solver> Measure breakEven(const Request &request) {
  auto sweep = std::make_shared<BreakEvenSweep<Solver>>(request);
  return [=](uint64_t sweeps) { return sweep->run(sweeps); };
}

/// `Solver::solve(tree)` gives the sum over all nodes of a tree.
template <typename Solver, typename Tree> Measure solved(const Request &request) {
  auto tree = std::make_shared<Tree>(request);
  auto tasks = request.count("tasks"), expected = request.count("expected");
  check(taskCount(*tree, tree->root) == tasks, "the tree has another number of tasks than " + std::to_string(tasks));
  auto plain = [=] {
    auto root = tree->root;
    // The optimiser does not know that it is the same tree again.
    asm volatile("" : "+m"(root));
    return serial(*tree, root);
  };
  return besideOneThread<Solver>(tasks, plain, [=] { return Solver::solve(*tree); }, [=](uint64_t found) {
    check(found == expected, "the result is " + std::to_string(found) + " instead of " + std::to_string(expected));
  });
}

template <typename Solver> Benchmarks forkJoinBenchmarks() {
  return {
      {"forkjoin/fib", solved<Solver, Fib>},
      {"forkjoin/skynet", solved<Solver, Skynet>},
      {"forkjoin/nqueens", solved<Solver, Queens>},
      {"forkjoin/uts", solved<Solver, GeometricTree>},
  };
}
