// Loops and collections, as in ConcurrentPerform.swift and ConcurrentMap.swift. How a scheduler divides a loop is its
// own.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "beside.hpp"
#include "work.hpp"

/// `Loops::each(count, body)` calls `body(index)` once for each index below the count.
template <typename Loops> Measure performed(const Request &request) {
  auto iterations = request.positive("param.iterations");
  auto rounds = roundsFor(request.number("param.work_ns"), request.number("rounds_per_microsecond"));
  auto flags = std::make_shared<Flags>(iterations);
  auto body = [rounds, own = flags.get()](size_t index) {
    if (rounds > 0) spin(rounds);
    ++*own->slot(index);
  };
  auto plain = [=] {
    for (size_t index = 0; index < iterations; ++index) body(index);
    return iterations;
  };
  auto together = [=] {
    Loops::each(iterations, body);
    return iterations;
  };
  return besideOneThread<Loops>(iterations, plain, together, [=](size_t) { flags->verify(); });
}

/// The numbers of SeededGenerator.swift.
inline uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

/// `Loops::map(elements, function)` gives a vector of what the function makes of each element.
template <typename Loops> Measure mapped(const Request &request) {
  auto seed = request.count("seed");
  auto elements = std::make_shared<std::vector<uint64_t>>(request.positive("param.elements"));
  for (auto &element : *elements) element = mixed(seed += 0x9e3779b97f4a7c15);
  auto function = [](uint64_t element) { return mixed(element); };
  auto plain = [=] {
    std::vector<uint64_t> made(elements->size());
    std::transform(elements->begin(), elements->end(), made.begin(), function);
    return made;
  };
  auto verify = [=](const std::vector<uint64_t> &made) {
    auto isRight = std::equal(made.begin(), made.end(), elements->begin(), elements->end(),
                              [=](uint64_t found, uint64_t element) { return found == function(element); });
    check(isRight, "the elements are not those of a plain map");
  };
  return besideOneThread<Loops>(elements->size(), plain, [=] { return Loops::map(*elements, function); }, verify);
}

template <typename Loops> Benchmarks loopBenchmarks() {
  return {{"forkjoin/perform", performed<Loops>}, {"forkjoin/map", mapped<Loops>}};
}
