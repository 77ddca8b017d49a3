#include <tbb/task_group.h>

#include "families.hpp"
#include "trees.hpp"

namespace {

/// A task_group for the children of a node, the last of which its own task goes on with: the form of oneTBB's own
/// examples.
template <typename Tree> uint64_t sum(const Tree &tree, const typename Tree::Node &node) {
  auto count = tree.childCount(node);
  if (count == 0) return tree.value(node);
  uint64_t sums[Tree::mostChildren];
  tbb::task_group group;
  tree.forEachChild(node, count, [&](uint32_t index, const typename Tree::Node &child) {
    auto slot = &sums[index];
    if (index + 1 < count) group.run([&tree, child, slot] { *slot = sum(tree, child); });
    else *slot = sum(tree, child);
  });
  group.wait();
  auto total = tree.value(node);
  for (uint32_t index = 0; index < count; ++index) total += sums[index];
  return total;
}

struct TaskGroups : Undisturbed {
  template <typename Tree> static uint64_t solve(const Tree &tree) { return sum(tree, tree.root); }
};

} // namespace

const Benchmarks forkJoin = [] {
  auto benchmarks = forkJoinBenchmarks<TaskGroups>();
  benchmarks["forkjoin/break-even"] = breakEven<TaskGroups>;
  return benchmarks;
}();
