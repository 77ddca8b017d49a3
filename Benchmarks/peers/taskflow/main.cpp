// The benchmarks of opbench on Taskflow. Started by opbench for one cell at a time; scripts/peers builds it against a
// checkout.
//
// Form: `workers` threads that only run tasks. The main thread adds work and sleeps while it waits.
#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/algorithm/transform.hpp>
#include <taskflow/taskflow.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "edges.hpp"
#include "loops.hpp"
#include "team.hpp"
#include "trees.hpp"

namespace {

/// Written once, before there is a task.
tf::Executor *executor;

void addAll(Flags &flags, size_t first, size_t last) {
  for (auto index = first; index < last; ++index) {
    auto flag = flags.slot(index);
    executor->silent_async([flag] { ++*flag; });
  }
}

/// `add` adds one task for each flag.
template <typename Add> Measure added(const std::shared_ptr<Flags> &flags, Add add) {
  auto once = [=] {
    add();
    executor->wait_for_all();
  };
  return rounds(flags->count(), 0, once, [=] { flags->verify(); });
}

Measure externalAdd(const Request &request) {
  auto flags = std::make_shared<Flags>(request.positive("param.ops"));
  return added(flags, [=] { addAll(*flags, 0, flags->count()); });
}

Measure localAdd(const Request &request) {
  auto flags = std::make_shared<Flags>(request.positive("param.ops"));
  return added(flags, [own = flags.get()] { executor->silent_async([=] { addAll(*own, 0, own->count()); }); });
}

Measure contendedAdd(const Request &request) {
  auto flags = std::make_shared<Flags>(request.positive("param.ops"));
  auto producers = sharing(request.positive("param.producers"), flags->count(),
                           [=](size_t first, size_t last) { addAll(*flags, first, last); });
  return added(flags, [=] { producers->run(); });
}

/// A task of a tf::Taskflow for each task, an edge for each dependency.
template <typename Body> class KeptFlow {
public:
  KeptFlow(const Graph &tasks, Body body) : body(std::move(body)) {
    std::vector<tf::Task> nodes;
    for (uint32_t task = 0; task < tasks.count(); ++task) {
      nodes.push_back(flow.emplace([this, task] { this->body(task); }));
      for (auto input : tasks.inputs[task]) nodes[input].precede(nodes[task]);
    }
  }

  void run() { executor->run(flow).wait(); }

private:
  const Body body;
  tf::Taskflow flow;
};

/// Built, run and released each time, as operations are.
struct Flow {
  template <typename Body> static uint64_t run(const Graph &tasks, const Body &body) {
    KeptFlow<Body> flow(tasks, body);
    auto added = now();
    flow.run();
    return now() - added;
  }
};

/// The form of Taskflow's own examples. Only a worker has a group.
struct TaskGroups : Undisturbed {
  struct Group {
    tf::TaskGroup own = executor->task_group();

    template <typename Body> void run(Body body) { own.silent_async(std::move(body)); }
    void wait() { own.corun(); }
  };
  template <typename Tree> static uint64_t solve(const Tree &tree) {
    return executor->async([&] { return groupedSum<Group>(tree, tree.root); }).get();
  }
};

/// A tf::Taskflow of one parallel loop, with the partitioner that Taskflow chooses.
struct Loops : Undisturbed {
  template <typename Body> static void each(size_t count, const Body &body) {
    tf::Taskflow flow;
    flow.for_each_index(size_t(0), count, size_t(1), body);
    executor->run(flow).wait();
  }
  template <typename Function>
  static std::vector<uint64_t> map(const std::vector<uint64_t> &elements, const Function &function) {
    std::vector<uint64_t> made(elements.size());
    tf::Taskflow flow;
    flow.transform(elements.begin(), elements.end(), made.begin(), function);
    executor->run(flow).wait();
    return made;
  }
};

} // namespace

int main(int count, char **arguments) {
  Benchmarks benchmarks = {
      {"overhead/external-add", externalAdd},
      {"overhead/local-add", localAdd},
      {"overhead/contended-add", contendedAdd},
      {"forkjoin/break-even", breakEven<TaskGroups>},
      {"dependencies/recorded", recorded<Flow, KeptFlow>},
  };
  benchmarks.merge(edgeBenchmarks<Flow>());
  benchmarks.merge(forkJoinBenchmarks<TaskGroups>());
  benchmarks.merge(loopBenchmarks<Loops>());
  auto within = [](uint64_t workers, const Strategy &, const std::function<void()> &body) {
    tf::Executor own(workers);
    executor = &own;
    body();
  };
  auto version = std::string("Taskflow ") + tf::version() + " of " CHECKOUT ", " + compiler();
  return serve(count, arguments, {"taskflow", version, benchmarks, {}, within});
}
