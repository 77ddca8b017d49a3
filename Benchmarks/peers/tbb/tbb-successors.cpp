// The benchmarks of opbench on oneTBB's task_group with an order of tasks. Started by opbench for one cell at a time;
// scripts/peers builds it.
#include "arena.hpp"
#include "families.hpp"

int main(int count, char **arguments) { return serveInArena(count, arguments, "tbb-successors", taskDependencies); }
