#include "protocol.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

// ---- Arguments ----

Request::Request(int count, char **arguments) {
  for (int index = 1; index < count; ++index) {
    std::string argument = arguments[index];
    auto equals = argument.find('=');
    check(equals != std::string::npos, "'" + argument + "' is not key=value");
    values[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
}

const std::string &Request::text(const std::string &key) const {
  auto found = values.find(key);
  check(found != values.end(), "the request has no " + key);
  return found->second;
}

template <typename Number> static Number parsed(const std::string &key, const std::string &text) {
  Number number{};
  auto end = text.data() + text.size();
  auto result = std::from_chars(text.data(), end, number);
  check(result.ec == std::errc() && result.ptr == end, key + " is no number in the request");
  return number;
}

uint64_t Request::count(const std::string &key) const { return parsed<uint64_t>(key, text(key)); }
double Request::number(const std::string &key) const { return parsed<double>(key, text(key)); }
uint64_t Request::positive(const std::string &key) const {
  auto found = count(key);
  check(found > 0, key + " is 0 in the request");
  return found;
}

// ---- Strategies ----

/// One decision of a strategy, checked. Gives its name and what was chosen.
static std::pair<std::string, std::string> decided(const std::string &text, const std::vector<Decision> &decisions) {
  auto equals = text.find('=');
  check(equals != std::string::npos, "'" + text + "' is no decision: it takes name=choice");
  auto name = text.substr(0, equals), choice = text.substr(equals + 1);
  for (auto &decision : decisions) {
    if (decision.name != name) continue;
    auto &words = decision.words;
    if (std::find(words.begin(), words.end(), choice) != words.end()) return {name, choice};
    check(decision.least <= decision.most && !choice.empty() &&
              std::all_of(choice.begin(), choice.end(), [](char one) { return '0' <= one && one <= '9'; }),
          "'" + name + "' has no choice '" + choice + "'");
    auto number = parsed<uint64_t>(name, choice);
    check(decision.least <= number && number <= decision.most,
          "'" + text + "' is out of range: it takes N from " + std::to_string(decision.least) + " to " +
              std::to_string(decision.most));
    return {name, choice};
  }
  throw std::runtime_error("there is no decision '" + name + "'");
}

Strategy::Strategy(const std::string &text, const std::vector<Decision> &decisions) {
  for (size_t start = 0; !text.empty() && start <= text.size();) {
    auto end = std::min(text.find(';', start), text.size());
    auto [name, choice] = decided(text.substr(start, end - start), decisions);
    check(chosen.emplace(name, choice).second, "'" + name + "' is given twice: it takes one choice");
    start = end + 1;
  }
}

// ---- Clocks and counters ----

static uint64_t read(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

uint64_t now() { return read(CLOCK_MONOTONIC); }

Counters Counters::read() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return {now(), ::read(CLOCK_PROCESS_CPUTIME_ID), usage.ru_nvcsw, usage.ru_nivcsw};
}

void Elapsed::add(const Counters &start) {
  auto end = Counters::read();
  wall += end.wall - start.wall;
  cpu += end.cpu - start.cpu;
  voluntary += end.voluntary - start.voluntary;
  involuntary += end.involuntary - start.involuntary;
}

std::vector<Reading> Elapsed::readings(uint64_t operations, uint64_t edges) const {
  double count = double(operations);
  std::vector<Reading> readings = {
      {"ns_per_op", "ns", wall / count, operations},
      {"cpu_ns_per_op", "ns", cpu / count, operations},
      {"voluntary_switches_per_op", "switches", voluntary / count, operations},
      {"involuntary_switches_per_op", "switches", involuntary / count, operations}};
  if (edges > 0) readings.push_back({"ns_per_edge", "ns", double(wall) / double(edges), edges});
  return readings;
}

// ---- CPUs ----

void begin(uint64_t place) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  uint64_t left = place % uint64_t(CPU_COUNT(&all));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all) && left-- == 0) {
      CPU_SET(cpu, &one);
      break;
    }
  if (sched_setaffinity(0, sizeof one, &one) == 0) sched_setaffinity(0, sizeof all, &all);
}

// ---- Calibrating and timing ----

/// How long the timed work of some repeats takes, in nanoseconds.
static uint64_t timed(const Measure &measure, uint64_t repeats) {
  auto start = now();
  auto readings = measure(repeats);
  for (auto metric : {"ns_per_op", "makespan_ns"})
    for (auto &reading : readings)
      if (reading.metric == metric) return uint64_t(std::max(reading.value * double(reading.count), 1.0));
  return std::max<uint64_t>(now() - start, 1);
}

/// As MeasuringProcess.swift and Calibration.swift do: after the lead-in, at most ten times as many repeats at a time,
/// and no more than a slower subject needed; the median of three attempts.
static uint64_t calibrate(const Measure &measure, uint64_t target, uint64_t limit, uint64_t leadIn) {
  auto born = now();
  uint64_t led;
  do led = timed(measure, 1);
  while (now() - born < leadIn);
  uint64_t repeats = 1;
  std::vector<uint64_t> answers;
  while (answers.size() < 3) {
    auto took = std::min(timed(measure, repeats), led);
    led = UINT64_MAX;
    auto needed = std::max<uint64_t>(1, uint64_t(std::ceil(double(target) / (double(took) / double(repeats)))));
    if (took >= target) {
      if (repeats == 1 && took >= 2 * target) return 1;
      answers.push_back(std::min(needed, limit));
      repeats = std::max(answers.back(), (repeats + 1) / 2);
    } else if (repeats >= limit) {
      return limit;
    } else {
      repeats = std::min({std::max(needed, repeats + 1), repeats * 10, limit});
    }
  }
  std::sort(answers.begin(), answers.end());
  return answers[1];
}

void stop() { std::raise(SIGSTOP); }

static void print(uint64_t index, const Reading &reading) {
  std::printf("reading\t%llu\t%s\t%s\t%.17g\t%llu\t%s\n", (unsigned long long)index, reading.metric.c_str(),
              reading.unit.c_str(), reading.value, (unsigned long long)reading.count, reading.detail.c_str());
}

/// Runs until the lead-in has passed, at least once if there is one; then takes values until the budget has passed, at
/// least one. Prints nothing before the last value: threads would fall asleep meanwhile, and the first repeat of a
/// value be dearer. In turns, stops before each value until opbench lets the process go on, and runs once uncounted.
static void time(const Measure &measure, uint64_t repeats, uint64_t more, uint64_t values, uint64_t leadIn,
                 uint64_t budget, bool inTurns) {
  auto start = now();
  if (leadIn > 0) do measure(repeats);
    while (now() - start < leadIn);
  std::vector<std::vector<Reading>> taken;
  uint64_t spent = 0;
  while (taken.size() < values) {
    if (inTurns) {
      std::printf("turn\n");
      std::fflush(stdout);
      stop();
      measure(repeats);
    }
    start = now();
    taken.push_back(measure(taken.size() % 2 == 0 ? repeats : repeats + more));
    spent += now() - start;
    if (spent >= budget) break;
  }
  for (size_t value = 0; value < taken.size(); ++value)
    for (auto &reading : taken[value]) print(value + 1, reading);
}

static void run(const Request &request, Prepare prepare) {
  auto &mode = request.text("mode");
  if (mode == "calibrate") {
    auto target = request.count("target"), limit = request.positive("limit"), leadIn = request.count("lead_in");
    std::printf("repeats\t%llu\n", (unsigned long long)calibrate(prepare(request), target, limit, leadIn));
  } else if (mode == "time") {
    auto repeats = request.positive("repeats"), values = request.positive("values");
    auto leadIn = request.count("lead_in"), budget = request.count("budget"), more = request.count("more");
    time(prepare(request), repeats, more, values, leadIn, budget, request.has("turns"));
  } else {
    throw std::runtime_error("there is no mode " + mode);
  }
  std::printf("end\n");
}

std::string compiler() {
#ifdef __clang__
  return "clang++ " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#else
  return std::string("g++ ") + __VERSION__;
#endif
}

static void fail(std::string message) {
  std::replace_if(message.begin(), message.end(), [](char one) { return one == '\n' || one == '\t'; }, ' ');
  std::printf("failure\t%s\n", message.c_str());
}

int serve(int count, char **arguments, const Peer &peer) {
  if (count == 2 && std::string(arguments[1]) == "version") {
    std::printf("opbench-peer\t%d\nversion\t%s\n", protocolVersion, peer.version.c_str());
    if (!peer.only.empty()) std::printf("only\t%s\n", peer.only.c_str());
    for (auto &benchmark : peer.benchmarks) std::printf("benchmark\t%s\n", benchmark.first.c_str());
    std::printf("end\n");
    return 0;
  }
  try {
    Request request(count, arguments);
    if (request.has("place")) begin(request.count("place"));
    auto found = peer.benchmarks.find(request.text("benchmark"));
    check(found != peer.benchmarks.end(), "there is no " + request.text("benchmark") + " on " + peer.name);
    check(!request.has("strategy") || !peer.decisions.empty(), "'" + peer.name + "' has no strategy to choose");
    Strategy strategy(request.has("strategy") ? request.text("strategy") : "", peer.decisions);
    peer.within(request.positive("workers"), strategy, [&] { run(request, found->second); });
  } catch (const std::exception &error) {
    fail(error.what());
  }
  std::fflush(stdout);
  // Without waiting for threads that sleep.
  std::_Exit(0);
}
