// Dependencies as OpenMP has them: each task names the places that it reads and the place that it writes.
#include <memory>
#include <vector>

#include "edges.hpp"
#include "families.hpp"

namespace {

struct Places {
  /// Tasks run while others are still being added.
  template <typename Body> static uint64_t run(const Graph &tasks, const Body &body) {
    std::vector<char> storage(tasks.count());
    auto places = storage.data();
    auto own = &body;
    auto added = now();
    for (uint32_t task = 0; task < tasks.count(); ++task) {
      auto inputs = tasks.inputs[task].data();
      auto count = int(tasks.inputs[task].size());
      if (count == 0) {
#pragma omp task firstprivate(own, task) depend(out : places[task])
        (*own)(task);
      } else if (count == 1) {
#pragma omp task firstprivate(own, task) depend(in : places[inputs[0]]) depend(out : places[task])
        (*own)(task);
      } else {
#pragma omp task firstprivate(own, task) depend(iterator(int i = 0 : count), in : places[inputs[i]]) \
    depend(out : places[task])
        (*own)(task);
      }
    }
#pragma omp taskwait
    return now() - added;
  }
};

/// One place, which each task reads and writes.
Measure chainOnOnePlace(const Request &request) {
  auto length = request.positive("param.length");
  auto order = std::make_shared<Order>(length);
  auto add = [length, own = order.get()] {
    [[maybe_unused]] char place;
    for (uint64_t index = 0; index < length; ++index) {
#pragma omp task firstprivate(own, index) depend(inout : place)
      own->visit(index);
    }
#pragma omp taskwait
  };
  return rounds(length, length - 1, add, [=] { order->verify(); });
}

} // namespace

const Benchmarks dependencies = [] {
  auto benchmarks = edgeBenchmarks<Places>();
  benchmarks["dependencies/chain"] = chainOnOnePlace;
  return benchmarks;
}();
