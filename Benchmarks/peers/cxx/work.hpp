// What operations do, and how it is known that they did it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol.hpp"

/// Does the arithmetic of opbench's own work.
inline void spin(uint64_t rounds) {
  uint64_t state = 0x9e3779b97f4a7c15;
  asm volatile("" : "+r"(state));
  for (uint64_t round = 0; round < rounds; ++round) state = (state ^ (state >> 29)) * 0xbf58476d1ce4e5b9;
  asm volatile("" : : "r"(state));
}

inline uint64_t roundsFor(double nanoseconds, double perMicrosecond) {
  return uint64_t(std::round(nanoseconds * perMicrosecond / 1000));
}

/// A word per operation: each ran exactly once.
class Flags {
public:
  explicit Flags(size_t count) : words(count, 0) {}
  size_t count() const { return words.size(); }
  uint32_t *slot(size_t index) { return &words[index]; }
  size_t ran() const { return std::count_if(words.begin(), words.end(), [](uint32_t word) { return word != 0; }); }
  void verify() {
    for (size_t index = 0; index < words.size(); ++index) {
      check(words[index] == 1, "operation " + std::to_string(index) + " ran " + std::to_string(words[index]) + " times");
      words[index] = 0;
    }
  }

private:
  std::vector<uint32_t> words;
};

/// Counts along a chain, in which only one task runs at a time and each after the one before.
class Order {
public:
  explicit Order(uint64_t length) : length(length) {}

  void visit(uint64_t index) {
    if (visited != index) isInOrder = false;
    ++visited;
  }
  void verify() {
    check(isInOrder && visited == length, "a chain ran " + std::to_string(visited) + " tasks, or out of order");
    visited = 0;
  }

private:
  uint64_t length, visited = 0;
  bool isInOrder = true;
};
