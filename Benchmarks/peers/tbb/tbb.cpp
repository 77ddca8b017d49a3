// The benchmarks of opbench on oneTBB's task_group. Started by opbench for one cell at a time; scripts/peers builds it.
// Its families each are a file; a new benchmark is a function and its line in one of them.
#include "arena.hpp"
#include "families.hpp"

int main(int count, char **arguments) {
  auto benchmarks = overhead;
  benchmarks.insert(countedDependencies.begin(), countedDependencies.end());
  benchmarks.insert(forkJoin.begin(), forkJoin.end());
  return serveInArena(count, arguments, "tbb", benchmarks);
}
