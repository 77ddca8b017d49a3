// The benchmarks of opbench on tasks of StarPU. Started by opbench for one cell at a time; scripts/peers builds it.
// Its families each are a file; a new benchmark is a function and its line in one of them.
//
// Form: `workers` threads that only run tasks. The main thread adds work and sleeps while it waits.
#include <starpu.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "families.hpp"

namespace {

/// A folder that is there for as long as this value. StarPU keeps measurements of the machine in files, which CPUs
/// alone do not need; by itself it writes them into the home folder.
class TemporaryFolder {
public:
  std::string path;

  TemporaryFolder() {
    auto variable = std::getenv("TMPDIR");
    std::string parent = variable != nullptr ? variable : "/tmp";
    path = parent + "/opbench-starpu-XXXXXX";
    auto isMade = mkdtemp(path.data()) != nullptr;
    std::string reason = std::strerror(errno);
    check(isMade, "a folder cannot be made in " + parent + ": " + reason);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// Variables that the user has set do not count.
void clearEnvironment() {
  std::vector<std::string> names;
  for (auto one = environ; *one != nullptr; ++one) {
    if (std::strncmp(*one, "STARPU_", 7) == 0) names.emplace_back(*one, std::strchr(*one, '=') - *one);
  }
  for (auto &name : names) unsetenv(name.c_str());
}

void start(uint64_t workers, const Strategy &strategy) {
  check(workers <= STARPU_MAXCPUS, "this StarPU is built for at most " + std::to_string(STARPU_MAXCPUS) + " workers");
  TemporaryFolder home;
  clearEnvironment();
  setenv("STARPU_SILENT", "1", 1);
  setenv("STARPU_HOME", home.path.c_str(), 1);
  setenv("STARPU_HOSTNAME", "opbench", 1);
  // Workers stay on the CPUs that this process may use; without this they take any of the machine.
  setenv(strategy.is("bind", "off") ? "STARPU_WORKERS_NOBIND" : "STARPU_WORKERS_GETBIND", "1", 1);
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = int(workers);
  conf.ncuda = conf.nopencl = 0;
  conf.catch_signals = 0;
  conf.sched_policy_name = strategy.has("sched") ? strategy.text("sched").c_str() : "lws";
  if (strategy.has("backoff")) conf.driver_spinning_backoff_max = unsigned(std::stoul(strategy.text("backoff")));
  check(starpu_init(&conf) == 0, "StarPU does not start");
  check(starpu_cpu_worker_get_count() == workers, "StarPU has another number of workers than asked for");
}

} // namespace

int main(int count, char **arguments) {
  auto benchmarks = overhead;
  benchmarks.insert(dependencies.begin(), dependencies.end());
  benchmarks.insert(forkJoin.begin(), forkJoin.end());
  int major, minor, release;
  starpu_get_version(&major, &minor, &release);
  auto version = "StarPU " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release) +
                 ", " + compiler();
  std::vector<Decision> decisions = {
      {"sched", {"lws", "ws", "eager", "prio"}},
      {"bind", {"on", "off"}},
      {"backoff", {}, 1, 1000000},
  };
  auto within = [](uint64_t workers, const Strategy &strategy, const std::function<void()> &body) {
    start(workers, strategy);
    body();
  };
  return serve(count, arguments, {"starpu", version, benchmarks, decisions, within, "join=counter"});
}
