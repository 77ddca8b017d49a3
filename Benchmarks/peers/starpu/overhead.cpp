#include <memory>

#include "families.hpp"
#include "tasks.hpp"
#include "team.hpp"
#include "work.hpp"

namespace {

Codelet mark([](void **, void *flag) { ++*static_cast<uint32_t *>(flag); });

/// A task for each flag of a part.
void addAll(Flags &flags, size_t first, size_t end) {
  for (size_t index = first; index < end; ++index) mark.submit(flags.slot(index));
}

Measure externalAdd(const Request &request) {
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  auto add = [=] {
    addAll(*flags, 0, operations);
    starpu_task_wait_for_all();
  };
  return rounds(operations, 0, add, [=] { flags->verify(); });
}

Measure localAdd(const Request &request) {
  static Codelet addFromWorker([](void **, void *argument) {
    auto flags = static_cast<Flags *>(argument);
    addAll(*flags, 0, flags->count());
  });
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  auto add = [=] {
    addFromWorker.submit(flags.get());
    starpu_task_wait_for_all();
  };
  return rounds(operations, 0, add, [=] { flags->verify(); });
}

Measure contendedAdd(const Request &request) {
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  auto producers = sharing(request.positive("param.producers"), operations,
                           [=](size_t first, size_t end) { addAll(*flags, first, end); });
  auto add = [=] {
    producers->run();
    starpu_task_wait_for_all();
  };
  return rounds(operations, 0, add, [=] { flags->verify(); });
}

} // namespace

const Benchmarks overhead = {
    {"overhead/external-add", externalAdd},
    {"overhead/local-add", localAdd},
    {"overhead/contended-add", contendedAdd},
};
