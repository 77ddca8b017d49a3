#include "runtime.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace {

const Decision waiting{"wait", {"default", "passive", "active"}};

#ifdef __clang__
const char *const name = "openmp-llvm";
const char *const library = "libomp";
const std::vector<Decision> decisions = {
    waiting,
    {"blocktime", {}, 0, 1000000},
    {"steal", {"descendants", "any"}},
    {"throttle", {"on", "off"}},
    {"trees", {"tied", "untied"}},
};
#else
const char *const name = "openmp-gcc";
const char *const library = "libgomp";
const std::vector<Decision> decisions = {waiting, {"spin", {"default"}, 0, 1000000000}};
#endif

void add(std::vector<std::string> &variables, const Strategy &strategy, const std::string &decision,
         const std::string &variable) {
  if (strategy.has(decision) && !strategy.is(decision, "default")) {
    variables.push_back(variable + "=" + strategy.text(decision));
  }
}

std::vector<std::string> variables(const Strategy &strategy) {
  std::vector<std::string> variables;
  add(variables, strategy, "wait", "OMP_WAIT_POLICY");
  add(variables, strategy, "spin", "GOMP_SPINCOUNT");
  add(variables, strategy, "blocktime", "KMP_BLOCKTIME");
  if (strategy.is("steal", "any")) variables.push_back("KMP_TASK_STEALING_CONSTRAINT=0");
  if (strategy.is("throttle", "off")) variables.push_back("KMP_ENABLE_TASK_THROTTLING=0");
  return variables;
}

bool isOfRuntime(const std::string &variable) {
  for (auto prefix : {"OMP_", "GOMP_", "KMP_", "LIBOMP_"}) {
    if (variable.compare(0, std::strlen(prefix), prefix) == 0) return true;
  }
  return false;
}

/// The zero-terminated words of a file of /proc.
std::vector<std::string> words(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (size_t start = 0; start < text.size();) {
    words.emplace_back(text.c_str() + start);
    start += words.back().size() + 1;
  }
  return words;
}

std::vector<char *> pointers(std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (auto &word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

} // namespace

Runtime runtime() { return {name, std::string(library) + ", " + compiler(), decisions}; }

void setEnvironment(const Strategy &strategy) {
  auto wanted = variables(strategy);
  std::vector<std::string> found, others;
  for (auto one = environ; *one != nullptr; ++one) (isOfRuntime(*one) ? found : others).push_back(*one);
  auto sorted = [](std::vector<std::string> some) {
    std::sort(some.begin(), some.end());
    return some;
  };
  if (sorted(found) == sorted(wanted)) return;
  others.insert(others.end(), wanted.begin(), wanted.end());
  auto arguments = words("/proc/self/cmdline");
  execve("/proc/self/exe", pointers(arguments).data(), pointers(others).data());
  check(false, std::string("the program cannot start itself again: ") + std::strerror(errno));
}
