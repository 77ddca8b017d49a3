#include <atomic>

#include "families.hpp"
#include "tasks.hpp"
#include "trees.hpp"

namespace {

/// What the children of a node have found together. A task of StarPU cannot wait for another, so the last child to end
/// goes on with what follows the join.
struct Join {
  std::atomic<uint32_t> left;
  std::atomic<uint64_t> sum;
  Join *parent;
};

void finish(Join *join, uint64_t sum) {
  while (join != nullptr) {
    join->sum.fetch_add(sum, std::memory_order_relaxed);
    if (join->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    auto parent = join->parent;
    // The join of the root is the solver's.
    if (parent == nullptr) return;
    sum = join->sum.load(std::memory_order_relaxed);
    delete join;
    join = parent;
  }
}

/// A task for each child of a node but the last, with which its own task goes on.
template <typename Tree> struct Part {
  const Tree *tree;
  typename Tree::Node node;
  Join *parent;

  void submit() {
    static Codelet codelet([](void **, void *argument) {
      auto part = static_cast<Part *>(argument);
      part->run();
      delete part;
    });
    codelet.submit(new Part(*this));
  }

  void run() {
    while (auto count = tree->childCount(node)) {
      auto join = new Join{{count}, {tree->value(node)}, parent};
      auto last = node;
      tree->forEachChild(node, count, [&](uint32_t index, const typename Tree::Node &child) {
        if (index + 1 < count) Part{tree, child, join}.submit();
        else last = child;
      });
      node = last;
      parent = join;
    }
    finish(parent, tree->value(node));
  }
};

struct Parts {
  template <typename Tree> static uint64_t solve(const Tree &tree) {
    Join whole{{1}, {0}, nullptr};
    Part<Tree>{&tree, tree.root, &whole}.submit();
    starpu_task_wait_for_all();
    return whole.sum.load();
  }
  /// The workers look for tasks without pause, and would take half of each CPU.
  template <typename Body> static auto alone(const Body &body) {
    starpu_pause();
    auto result = body();
    starpu_resume();
    return result;
  }
};

} // namespace

const Benchmarks forkJoin = forkJoinBenchmarks<Parts>();
