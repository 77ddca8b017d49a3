// The two libraries, and what each lets its user choose.
#pragma once

#include <string>
#include <vector>

#include "protocol.hpp"

struct Runtime {
  std::string name, version;
  std::vector<Decision> decisions;
};

Runtime runtime();

/// A variable of the environment for each decision. Both libraries read them when they start, so the program starts
/// itself again where the environment is another one. Variables that the user has set do not count.
void setEnvironment(const Strategy &strategy);
