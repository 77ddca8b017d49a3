// The benchmarks of opbench on tasks of OpenMP. scripts/peers builds it twice: with g++ and libgomp, and with clang++
// and libomp. Its families each are a file; a new benchmark is a function and its line in one of them.
#include "families.hpp"
#include "crew.hpp"

int main(int count, char **arguments) {
  auto benchmarks = overhead;
  benchmarks.insert(dependencies.begin(), dependencies.end());
  benchmarks.insert(forkJoin.begin(), forkJoin.end());
  return serveInTeam(count, arguments, benchmarks);
}
