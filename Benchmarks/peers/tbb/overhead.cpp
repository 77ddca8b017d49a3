#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <memory>

#include "families.hpp"
#include "marks.hpp"
#include "team.hpp"
#include "work.hpp"

namespace {

/// task_group::run from the main thread. task_arena::enqueue, with which the main thread takes no part, goes through a
/// shared queue.
Measure externalAdd(const Request &request) {
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  auto add = [=] {
    tbb::task_group group;
    addAll(group, *flags);
    group.wait();
  };
  return rounds(operations, 0, add, [=] { flags->verify(); });
}

Measure localAdd(const Request &request) {
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  auto add = [=] {
    tbb::task_group group;
    group.run([&] { addAll(group, *flags); });
    group.wait();
  };
  return rounds(operations, 0, add, [=] { flags->verify(); });
}

/// task_arena::enqueue of tasks that belong to one task_group: what threads have that are not the arena's own, and get
/// no slot in it. The main thread waits for the group, and helps.
Measure contendedAdd(const Request &request) {
  struct Contention {
    Flags flags;
    tbb::task_arena arena{tbb::task_arena::attach{}};
    tbb::task_group group;
    std::shared_ptr<ThreadTeam> producers;

    Contention(size_t operations, size_t count)
        : flags(operations), producers(sharing(count, operations, [this](size_t first, size_t end) {
            for (auto index = first; index < end; ++index) {
              auto flag = flags.slot(index);
              arena.enqueue(group.defer([flag] { ++*flag; }));
            }
          })) {}
  };
  auto operations = request.positive("param.ops");
  auto all = std::make_shared<Contention>(operations, request.positive("param.producers"));
  auto add = [=] {
    all->producers->run();
    all->group.wait();
  };
  return rounds(operations, 0, add, [=] { all->flags.verify(); });
}

/// A batch is one task that divides itself, with parallel_for, down to a task for each operation.
Measure externalBatch(const Request &request) {
  auto operations = request.positive("param.ops"), batch = request.positive("param.batch");
  auto flags = std::make_shared<Flags>(operations);
  auto add = [=] {
    tbb::task_group group;
    for (size_t first = 0; first < operations; first += batch) {
      group.run([first, last = std::min(first + batch, operations), own = flags.get()] {
        tbb::parallel_for(first, last, [own](size_t index) { ++*own->slot(index); }, tbb::simple_partitioner());
      });
    }
    group.wait();
  };
  return rounds(operations, 0, add, [=] { flags->verify(); });
}

} // namespace

const Benchmarks overhead = {
    {"overhead/external-add", externalAdd},
    {"overhead/local-add", localAdd},
    {"overhead/contended-add", contendedAdd},
    {"overhead/external-batch", externalBatch},
};
