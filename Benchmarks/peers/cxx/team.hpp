// Threads outside the scheduler that act at the same time, as in ThreadTeam.swift: made before anything is timed.
#pragma once

#include <semaphore.h>

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

class Semaphore {
public:
  Semaphore() { sem_init(&semaphore, 0, 0); }
  ~Semaphore() { sem_destroy(&semaphore); }
  Semaphore(const Semaphore &) = delete;
  void post() { sem_post(&semaphore); }
  void wait() {
    while (sem_wait(&semaphore) != 0) {
    }
  }

private:
  sem_t semaphore;
};

class ThreadTeam {
public:
  ThreadTeam(size_t count, std::function<void(size_t)> job) : job(std::move(job)), go(count) {
    try {
      for (size_t number = 0; number < count; ++number) threads.emplace_back([this, number] { live(number); });
    } catch (...) {
      end();
      throw;
    }
  }
  ThreadTeam(const ThreadTeam &) = delete;
  ~ThreadTeam() { end(); }

  /// Runs the job once on every thread, with the thread's number, and returns when all have.
  void run() {
    for (auto &one : go) one.post();
    for (size_t number = 0; number < go.size(); ++number) done.wait();
  }

private:
  void end() {
    isOver = true;
    for (auto &one : go) one.post();
    for (auto &thread : threads) thread.join();
  }

  void live(size_t number) {
    while (true) {
      go[number].wait();
      if (isOver) return;
      job(number);
      done.post();
    }
  }

  std::function<void(size_t)> job;
  std::deque<Semaphore> go;
  Semaphore done;
  bool isOver = false;
  std::deque<std::thread> threads;
};

/// Threads that divide a number of operations among themselves: each runs the job once, from its first to its last.
inline std::shared_ptr<ThreadTeam> sharing(size_t count, size_t operations,
                                           std::function<void(size_t first, size_t last)> job) {
  return std::make_shared<ThreadTeam>(count, [=, job = std::move(job)](size_t number) {
    job(number * operations / count, (number + 1) * operations / count);
  });
}
