// The benchmarks of opbench on libfork. Started by opbench for one cell at a time; scripts/peers builds it against a
// checkout.
//
// Form: a lazy_pool of `workers` threads that only run tasks. The main thread adds work and sleeps while it waits.
#include <libfork.hpp>

#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "loops.hpp"
#include "trees.hpp"

namespace {

/// Written once, before there is a task.
lf::lazy_pool *pool;

constexpr auto mark = [](auto, uint32_t *flag) -> lf::task<> {
  ++*flag;
  co_return;
};

/// A root task for each, and a future for each: only one thread at a time may schedule root tasks.
Measure externalAdd(const Request &request) {
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  auto futures = std::make_shared<std::vector<lf::future<void>>>();
  futures->reserve(operations);
  auto once = [=] {
    for (size_t index = 0; index < operations; ++index) {
      futures->push_back(lf::schedule(*pool, mark, flags->slot(index)));
    }
    for (auto &future : *futures) future.get();
    futures->clear();
  };
  return rounds(operations, 0, once, [=] { flags->verify(); });
}

constexpr auto forkAll = [](auto, Flags *flags) -> lf::task<> {
  for (size_t index = 0; index < flags->count(); ++index) co_await lf::fork[mark](flags->slot(index));
  co_await lf::join;
};

/// The thread that forks a task runs it at once; another may go on with the loop meanwhile.
Measure localAdd(const Request &request) {
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  return rounds(operations, 0, [=] { lf::sync_wait(*pool, forkAll, flags.get()); }, [=] { flags->verify(); });
}

/// A fork for each child of a node but the last, which its own task calls: the form of libfork's own examples. Where
/// there may be more than two, they lie on libfork's stack.
constexpr auto sum = []<typename Tree>(auto sum, const Tree *tree,
                                       const typename Tree::Node *node) -> lf::task<uint64_t> {
  auto count = tree->childCount(*node);
  if (count == 0) co_return tree->value(*node);
  if constexpr (Tree::mostChildren == 2) {
    Child<Tree> children[2];
    Child<Tree>::fill(children, *tree, *node, count);
    co_await lf::fork[&children[0].sum, sum](tree, &children[0].node);
    co_await lf::call[&children[1].sum, sum](tree, &children[1].node);
    co_await lf::join;
    co_return Child<Tree>::total(children, *tree, *node, count);
  } else {
    auto [children] = co_await lf::co_new<Child<Tree>>(count);
    Child<Tree>::fill(children.data(), *tree, *node, count);
    for (uint32_t index = 0; index + 1 < count; ++index) {
      co_await lf::fork[&children[index].sum, sum](tree, &children[index].node);
    }
    co_await lf::call[&children[count - 1].sum, sum](tree, &children[count - 1].node);
    co_await lf::join;
    co_return Child<Tree>::total(children.data(), *tree, *node, count);
  }
};

struct Forks : Undisturbed {
  template <typename Tree> static uint64_t solve(const Tree &tree) {
    return lf::sync_wait(*pool, sum, &tree, &tree.root);
  }
};

/// Halves down to single items.
struct Loops : Undisturbed {
  template <typename Body> static void each(size_t count, const Body &body) {
    lf::sync_wait(*pool, lf::for_each, std::views::iota(size_t(0), count), body);
  }
  template <typename Function>
  static std::vector<uint64_t> map(const std::vector<uint64_t> &elements, const Function &function) {
    std::vector<uint64_t> made(elements.size());
    lf::sync_wait(*pool, lf::map, elements.begin(), elements.end(), made.begin(), function);
    return made;
  }
};

} // namespace

int main(int count, char **arguments) {
  Benchmarks benchmarks = {
      {"overhead/external-add", externalAdd},
      {"overhead/local-add", localAdd},
      {"forkjoin/break-even", breakEven<Forks>},
  };
  benchmarks.merge(forkJoinBenchmarks<Forks>());
  benchmarks.merge(loopBenchmarks<Loops>());
  auto within = [](uint64_t workers, const Strategy &, const std::function<void()> &body) {
    lf::lazy_pool own(workers);
    pool = &own;
    body();
  };
  auto number = [](int part) { return std::to_string(part); };
  auto version = "libfork " + number(LF_VERSION_MAJOR) + "." + number(LF_VERSION_MINOR) + "." +
                 number(LF_VERSION_PATCH) + " of " CHECKOUT ", " + compiler();
  return serve(count, arguments, {"libfork", version, benchmarks, {}, within});
}
