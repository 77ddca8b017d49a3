#include <memory>

#include "families.hpp"
#include "work.hpp"

namespace {

/// A task for each flag.
void addAll(Flags &flags) {
  for (size_t index = 0; index < flags.count(); ++index) {
    auto flag = flags.slot(index);
#pragma omp task firstprivate(flag)
    ++*flag;
  }
}

Measure externalAdd(const Request &request) {
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  auto add = [=] {
    addAll(*flags);
#pragma omp taskwait
  };
  return rounds(operations, 0, add, [=] { flags->verify(); });
}

/// The group waits for tasks of tasks too.
Measure localAdd(const Request &request) {
  auto operations = request.positive("param.ops");
  auto flags = std::make_shared<Flags>(operations);
  auto add = [own = flags.get()] {
#pragma omp taskgroup
    {
#pragma omp task firstprivate(own)
      addAll(*own);
    }
  };
  return rounds(operations, 0, add, [=] { flags->verify(); });
}

} // namespace

// No contended-add: a task belongs to the team of the thread that makes it, so threads outside cannot add any.
const Benchmarks overhead = {
    {"overhead/external-add", externalAdd},
    {"overhead/local-add", localAdd},
};
