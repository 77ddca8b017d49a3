// The benchmarks of each file, which `tbb.cpp`, `tbb-flow.cpp` and `tbb-successors.cpp` put together into programs.
#pragma once

#include "protocol.hpp"

extern const Benchmarks overhead, forkJoin;
/// With a task_group, unfinished inputs counted by hand.
extern const Benchmarks countedDependencies;
/// With a flow::graph.
extern const Benchmarks flowDependencies;
/// With a task_group, and an order of its tasks.
extern const Benchmarks taskDependencies;
