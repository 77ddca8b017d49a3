#include "crew.hpp"
#include "families.hpp"
#include "trees.hpp"

namespace {

/// A task for each child of a node but the last, with which its own task goes on, and taskwait.
template <bool isUntied, typename Tree> uint64_t sum(const Tree &tree, const typename Tree::Node &node) {
  auto count = tree.childCount(node);
  if (count == 0) return tree.value(node);
  uint64_t sums[Tree::mostChildren];
  auto own = &tree;
  tree.forEachChild(node, count, [&](uint32_t index, const typename Tree::Node &given) {
    auto slot = &sums[index];
    auto child = given;
    if (index + 1 == count) {
      *slot = sum<isUntied>(*own, child);
    } else if constexpr (isUntied) {
#pragma omp task untied firstprivate(own, child, slot)
      *slot = sum<isUntied>(*own, child);
    } else {
#pragma omp task firstprivate(own, child, slot)
      *slot = sum<isUntied>(*own, child);
    }
  });
#pragma omp taskwait
  auto total = tree.value(node);
  for (uint32_t index = 0; index < count; ++index) total += sums[index];
  return total;
}

struct Tasks : Undisturbed {
  template <typename Tree> static uint64_t solve(const Tree &tree) {
    return areTreesUntied ? sum<true>(tree, tree.root) : sum<false>(tree, tree.root);
  }
};

} // namespace

const Benchmarks forkJoin = [] {
  auto benchmarks = forkJoinBenchmarks<Tasks>();
  benchmarks["forkjoin/break-even"] = breakEven<Tasks>;
  return benchmarks;
}();
