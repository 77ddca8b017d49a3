// The benchmarks of each file, which `main.cpp` puts together.
#pragma once

#include "protocol.hpp"

extern const Benchmarks overhead, dependencies, forkJoin;
