// The benchmarks of opbench on TooManyCooks. Started by opbench for one cell at a time; scripts/peers builds it against
// a checkout.
//
// Form: an executor of `workers` threads that only run tasks. The main thread adds work and sleeps while it waits.
#define TMC_IMPL
#include <tmc/all_headers.hpp>

#include <algorithm>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "team.hpp"
#include "trees.hpp"

namespace {

auto &executor() { return tmc::cpu_executor(); }

/// Operations that only note that they ran, and a latch that is open when all have.
struct Marks {
  Flags flags;
  /// The latch of a round is there until the next begins: who opened it may still be at it when the round is over.
  std::optional<std::latch> done;

  explicit Marks(size_t count) : flags(count) {}

  auto mark(size_t index) {
    return [this, flag = flags.slot(index)] {
      ++*flag;
      done->count_down();
    };
  }
  void post(size_t first, size_t last) {
    for (auto index = first; index < last; ++index) tmc::post(executor(), mark(index));
  }
};

/// `add` posts them all.
template <typename Add> Measure posted(const std::shared_ptr<Marks> &marks, Add add) {
  auto operations = marks->flags.count();
  auto once = [=] {
    marks->done.emplace(std::ptrdiff_t(operations));
    add();
    marks->done->wait();
  };
  return rounds(operations, 0, once, [=] { marks->flags.verify(); });
}

Measure externalAdd(const Request &request) {
  auto marks = std::make_shared<Marks>(request.positive("param.ops"));
  return posted(marks, [=] { marks->post(0, marks->flags.count()); });
}

Measure localAdd(const Request &request) {
  auto marks = std::make_shared<Marks>(request.positive("param.ops"));
  return posted(marks, [own = marks.get()] { tmc::post(executor(), [own] { own->post(0, own->flags.count()); }); });
}

Measure contendedAdd(const Request &request) {
  auto marks = std::make_shared<Marks>(request.positive("param.ops"));
  auto producers = sharing(request.positive("param.producers"), marks->flags.count(),
                           [=](size_t first, size_t last) { marks->post(first, last); });
  return posted(marks, [=] { producers->run(); });
}

Measure externalBatch(const Request &request) {
  auto operations = request.positive("param.ops"), batch = request.positive("param.batch");
  auto marks = std::make_shared<Marks>(operations);
  return posted(marks, [=] {
    auto mark = [own = marks.get()](size_t index) { return own->mark(index); };
    for (size_t first = 0; first < operations; first += batch) {
      tmc::post_bulk(executor(), tmc::iter_adapter(first, mark), std::min(batch, operations - first));
    }
  });
}

/// A fork for one of two children, and the other awaited by the task itself. More children are a group, which begins
/// where it is awaited.
template <typename Tree> tmc::task<uint64_t> sum(const Tree *tree, typename Tree::Node node) {
  auto count = tree->childCount(node);
  if (count == 0) co_return tree->value(node);
  if constexpr (Tree::mostChildren == 2) {
    Child<Tree> children[2];
    Child<Tree>::fill(children, *tree, node, count);
    auto first = co_await tmc::fork_clang(sum(tree, children[0].node));
    auto second = co_await sum(tree, children[1].node);
    co_return tree->value(node) + second + co_await std::move(first);
  } else {
    auto group = tmc::spawn_group<Tree::mostChildren, tmc::task<uint64_t>>();
    tree->forEachChild(node, count, [&](uint32_t, const typename Tree::Node &child) { group.add(sum(tree, child)); });
    auto sums = co_await std::move(group);
    auto total = tree->value(node);
    for (uint32_t index = 0; index < count; ++index) total += sums[index];
    co_return total;
  }
}

struct Forks : Undisturbed {
  template <typename Tree> static uint64_t solve(const Tree &tree) {
    return tmc::post_waitable(executor(), sum(&tree, tree.root)).get();
  }
};

} // namespace

int main(int count, char **arguments) {
  Benchmarks benchmarks = {
      {"overhead/external-add", externalAdd},
      {"overhead/local-add", localAdd},
      {"overhead/contended-add", contendedAdd},
      {"overhead/external-batch", externalBatch},
      {"forkjoin/break-even", breakEven<Forks>},
  };
  benchmarks.merge(forkJoinBenchmarks<Forks>());
  auto within = [](uint64_t workers, const Strategy &, const std::function<void()> &body) {
    executor().set_thread_count(workers).init();
    check(executor().thread_count() == workers, "TooManyCooks has another number of threads than workers");
    body();
  };
  auto number = [](int part) { return std::to_string(part); };
  auto version = "TooManyCooks " + number(TMC_VERSION_MAJOR) + "." + number(TMC_VERSION_MINOR) + "." +
                 number(TMC_VERSION_PATCH) + " of " CHECKOUT ", " + compiler();
  return serve(count, arguments, {"toomanycooks", version, benchmarks, {}, within});
}
