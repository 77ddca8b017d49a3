// What is timed beside the same work on one thread, without a scheduler.
#pragma once

#include <algorithm>
#include <vector>

#include "protocol.hpp"

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  auto middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// What of a benchmark is timed beside the threads that wait for tasks.
struct Undisturbed {
  template <typename Body> static auto alone(const Body &body) { return body(); }
};

/// `plain` and `together` give the same, and `verify` throws where what they gave is wrong. `Solver::alone(body)` runs
/// `body` while no other thread of the scheduler needs a CPU.
template <typename Solver, typename Plain, typename Together, typename Verify>
Measure besideOneThread(uint64_t operations, Plain plain, Together together, Verify verify) {
  auto alone = Solver::alone([&] {
    // The median of at least five runs and two milliseconds: the first two may be dearer, because they take memory that
    // is new to the process.
    std::vector<double> times;
    auto begin = now();
    while (times.empty() || (now() - begin < 500000000 && (times.size() < 5 || now() - begin < 2000000))) {
      auto start = now();
      auto found = plain();
      times.push_back(double(now() - start));
      verify(found);
    }
    return median(times);
  });
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      auto start = Counters::read();
      auto found = together();
      elapsed.add(start);
      verify(found);
    }
    auto readings = elapsed.readings(operations * repeats);
    readings.push_back({"speedup", "ratio", alone * double(repeats) / double(elapsed.wall), repeats});
    return readings;
  };
}
