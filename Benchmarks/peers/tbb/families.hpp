// The benchmarks of each file, which `tbb.cpp` and `tbb-flow.cpp` put together into programs.
#pragma once

#include "protocol.hpp"

extern const Benchmarks overhead, forkJoin;
/// With a task_group, unfinished inputs counted by hand.
extern const Benchmarks countedDependencies;
/// With a flow::graph.
extern const Benchmarks flowDependencies;
