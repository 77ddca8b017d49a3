// The benchmarks of opbench on oneTBB's flow::graph, which has dependencies of its own. Started by opbench for one cell
// at a time; scripts/peers builds it.
#include "arena.hpp"
#include "families.hpp"

int main(int count, char **arguments) { return serveInArena(count, arguments, "tbb-flow", flowDependencies); }
