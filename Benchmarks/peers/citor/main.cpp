// The benchmarks of opbench on citor. Started by opbench for one cell at a time; scripts/peers builds it against a
// checkout.
//
// Form: `workers` participants, one of which is the main thread. citor keeps each on a CPU of its own.
#include <citor/thread_pool.h>
#include <citor/version.h>

#include <string>
#include <vector>

#include "loops.hpp"
#include "trees.hpp"

namespace {

using Hints = citor::HintsDefaults;

/// Written once, before there is a task.
citor::ThreadPool *pool;

/// forkJoin of the children of a node, whose number is known while compiling only where there are two.
template <typename Tree> uint64_t sum(const Tree &tree, const typename Tree::Node &node) {
  auto count = tree.childCount(node);
  if (count == 0) return tree.value(node);
  Child<Tree> children[Tree::mostChildren];
  Child<Tree>::fill(children, tree, node, count);
  auto solve = [&](size_t index) { children[index].sum = sum(tree, children[index].node); };
  if constexpr (Tree::mostChildren == 2) pool->forkJoin<Hints>([&] { solve(0); }, [&] { solve(1); });
  else pool->forkJoinAll<Hints>(count, solve);
  return Child<Tree>::total(children, tree, node, count);
}

struct Forks : Undisturbed {
  template <typename Tree> static uint64_t solve(const Tree &tree) { return sum(tree, tree.root); }
};

/// parallelFor, which hands out parts of the loop.
struct Loops : Undisturbed {
  template <typename Body> static void each(size_t count, const Body &body) {
    pool->parallelFor<Hints>(0, count, [&](size_t first, size_t last) {
      for (auto index = first; index < last; ++index) body(index);
    });
  }
  template <typename Function>
  static std::vector<uint64_t> map(const std::vector<uint64_t> &elements, const Function &function) {
    std::vector<uint64_t> made(elements.size());
    each(elements.size(), [&](size_t index) { made[index] = function(elements[index]); });
    return made;
  }
};

} // namespace

// No operations: a task that nobody waits for (submitDetached) is a thread of its own.
int main(int count, char **arguments) {
  Benchmarks benchmarks = {{"forkjoin/break-even", breakEven<Forks>}};
  benchmarks.merge(forkJoinBenchmarks<Forks>());
  benchmarks.merge(loopBenchmarks<Loops>());
  auto within = [](uint64_t workers, const Strategy &, const std::function<void()> &body) {
    citor::ThreadPool own(workers);
    check(own.participants() == workers,
          "citor has a thread for each core, here " + std::to_string(own.participants()) + ", and no more");
    pool = &own;
    body();
  };
  auto version = "citor " CITOR_VERSION_STRING " of " CHECKOUT ", " + compiler();
  return serve(count, arguments, {"citor", version, benchmarks, {}, within});
}
