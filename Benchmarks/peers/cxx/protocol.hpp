// What opbench and its peers say to each other: arguments in, lines out, and the clocks and counters between.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// The `key=value` arguments. What is missing or no number is a failure.
class Request {
public:
  Request(int count, char **arguments);
  bool has(const std::string &key) const { return values.count(key) > 0; }
  const std::string &text(const std::string &key) const;
  uint64_t count(const std::string &key) const;
  /// At least 1.
  uint64_t positive(const std::string &key) const;
  double number(const std::string &key) const;

private:
  std::map<std::string, std::string> values;
};

inline void check(bool holds, const std::string &otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

// ---- Strategies ----

/// Something that a scheduler lets its user choose: the words that may stand behind `name=`, and the numbers, if any.
struct Decision {
  std::string name;
  std::vector<std::string> words;
  uint64_t least = 1, most = 0;
};

/// What was chosen, such as `sched=prio;backoff=8`. A decision that was not chosen is as in the default.
class Strategy {
public:
  /// Fails when there is no such decision or choice.
  Strategy(const std::string &text, const std::vector<Decision> &decisions);
  bool has(const std::string &name) const { return chosen.count(name) > 0; }
  /// Whether that choice was made.
  bool is(const std::string &name, const std::string &choice) const { return has(name) && chosen.at(name) == choice; }
  const std::string &text(const std::string &name) const { return chosen.at(name); }

private:
  std::map<std::string, std::string> chosen;
};

/// Monotonic, in nanoseconds.
uint64_t now();

struct Counters {
  uint64_t wall, cpu;
  long voluntary, involuntary;

  static Counters read();
};

struct Reading {
  std::string metric, unit;
  double value;
  uint64_t count;
  std::string detail = {};
};

/// What passed, summed over several timed stretches.
struct Elapsed {
  uint64_t wall = 0, cpu = 0;
  long voluntary = 0, involuntary = 0;

  void add(const Counters &start);
  std::vector<Reading> readings(uint64_t operations, uint64_t edges = 0) const;
};

/// Moves this thread onto the CPU of that index among those it may use, modulo their number; where it may run stays as
/// it is. Each block of a run begins on the next CPU, with all its programs.
void begin(uint64_t place);

/// Stops all threads of this process before it returns, until opbench lets the process go on.
void stop();

/// Runs and checks n repeats, and gives one value.
using Measure = std::function<std::vector<Reading>(uint64_t repeats)>;

/// Does everything that is not to be timed.
using Prepare = Measure (*)(const Request &);
using Benchmarks = std::map<std::string, Prepare>;

/// The measure of most benchmarks: `once` is timed, `verify` throws when it did anything other than asked.
template <typename Once, typename Verify>
Measure rounds(uint64_t operations, uint64_t edges, Once once, Verify verify) {
  return [=](uint64_t repeats) {
    Elapsed elapsed;
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      auto start = Counters::read();
      once();
      elapsed.add(start);
      verify();
    }
    return elapsed.readings(operations * repeats, edges * repeats);
  };
}

/// Runs `body` where `workers` threads are at its service. What `body` throws, it throws too.
using Within = void (*)(uint64_t workers, const Strategy &strategy, const std::function<void()> &body);

/// The compiler of this program, as a version names it.
std::string compiler();

/// The version of the protocol, which is PeerProtocol.version of opbench.
constexpr int protocolVersion = 1;

/// A program of benchmarks. `only` is a parameter of which it knows one value, if there is one: `key=value`.
struct Peer {
  std::string name, version;
  Benchmarks benchmarks;
  std::vector<Decision> decisions;
  Within within;
  std::string only = {};
};

/// The main function of a peer.
int serve(int count, char **arguments, const Peer &peer);
