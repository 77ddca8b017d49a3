// Operations on a task_group that only note that they ran.
#pragma once

#include <tbb/task_group.h>

#include "work.hpp"

/// Adds one for each flag.
inline void addAll(tbb::task_group &group, Flags &flags) {
  for (size_t index = 0; index < flags.count(); ++index) {
    auto flag = flags.slot(index);
    group.run([flag] { ++*flag; });
  }
}
