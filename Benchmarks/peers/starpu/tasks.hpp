// Tasks without data: a function of one pointer. StarPU releases a task after it has run.
#pragma once

#include <starpu.h>

#include <exception>

inline void submit(starpu_task *task) {
  // What it refuses is a task that no worker can run. A task may be submitted by another, where nothing can be thrown.
  if (starpu_task_submit(task) != 0) std::terminate();
}

/// A function that tasks run.
class Codelet {
public:
  explicit Codelet(void (*function)(void **data, void *argument)) {
    starpu_codelet_init(&codelet);
    codelet.where = STARPU_CPU;
    codelet.cpu_funcs[0] = function;
  }
  Codelet(const Codelet &) = delete;

  starpu_task *task(void *argument) {
    auto task = starpu_task_create();
    task->cl = &codelet;
    task->cl_arg = argument;
    return task;
  }
  void submit(void *argument) { ::submit(task(argument)); }

private:
  starpu_codelet codelet;
};
