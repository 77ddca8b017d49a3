// Trees whose nodes contribute to one sum, as in ForkJoinTree.swift. How a scheduler runs the tasks of one is the solver's.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

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

  explicit GeometricTree(const Request &request) : depth(request.count("param.depth")), cutoff(request.count("param.cutoff")) {}
  bool isLeaf(const Node &node) const { return node.depth >= cutoff; }
  uint64_t value(const Node &node) const { return isLeaf(node) ? nodes(node) : 1; }
  uint32_t childCount(const Node &node) const { return isLeaf(node) ? 0 : branches(node); }
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

/// `Solver::solve(tree)` gives the sum over all nodes of a tree.
template <typename Solver, typename Tree> Measure solved(const Request &request) {
  auto tree = std::make_shared<Tree>(request);
  auto tasks = request.count("tasks"), expected = request.count("expected");
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
      auto found = Solver::solve(*tree);
      elapsed.add(start);
      check(found == expected, "the result is " + std::to_string(found) + " instead of " + std::to_string(expected));
    }
    auto readings = elapsed.readings(tasks * repeats);
    readings.push_back({"speedup", "ratio", alone * double(repeats) / double(elapsed.wall), repeats});
    return readings;
  };
}

template <typename Solver> Benchmarks forkJoinBenchmarks() {
  return {
      {"forkjoin/fib", solved<Solver, Fib>},
      {"forkjoin/skynet", solved<Solver, Skynet>},
      {"forkjoin/nqueens", solved<Solver, Queens>},
      {"forkjoin/uts", solved<Solver, GeometricTree>},
  };
}
