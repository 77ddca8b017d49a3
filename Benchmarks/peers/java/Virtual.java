import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** What tasks of Swift do in the family async, and bodies that block, with virtual threads. They came with Java 21. */
final class Virtual {
  static final Map<String, Protocol.Benchmark> BENCHMARKS = Map.of(
      "async/spawn", request -> new Virtual().spawn(request),
      "async/fib", request -> new Virtual().fib(request),
      "async/limit", request -> new Virtual().limit(request),
      "blocking/sleepers", request -> new Virtual().sleepers(request));

  private final ThreadFactory factory;

  private Virtual() {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      factory = (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    } catch (NoSuchMethodException error) {
      throw new Protocol.Failure("virtual threads came with Java 21, and this is Java " + Runtime.version());
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  private interface Body {
    void run() throws Exception;
  }

  private Thread start(Body body) {
    Thread thread = factory.newThread(() -> {
      try {
        body.run();
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    });
    thread.start();
    return thread;
  }

  /** The times are taken in a virtual thread, as the Swift benchmark takes them in a task. */
  private Protocol.Measure rounds(int operations, Body once, Runnable verify) {
    return repeats -> {
      Protocol.Elapsed elapsed = new Protocol.Elapsed();
      for (int repeat = 0; repeat < repeats; ++repeat) {
        Thread round = start(() -> {
          long[] start = Protocol.Elapsed.start();
          once.run();
          elapsed.add(start);
        });
        try {
          round.join();
        } catch (InterruptedException error) {
          throw new IllegalStateException(error);
        }
        verify.run();
      }
      return elapsed.readings((long) operations * repeats, 0);
    };
  }

  /** form=task: a thread for each, joined one after the other. form=group: a CountDownLatch of which each knows. */
  private Protocol.Measure spawn(Protocol.Request request) {
    int operations = request.positive("param.ops");
    Work.Flags flags = new Work.Flags(operations);
    return switch (request.text("param.form")) {
      case "task" -> rounds(operations, () -> {
        List<Thread> threads = new ArrayList<>(operations);
        for (int index = 0; index < operations; ++index) {
          int own = index;
          threads.add(start(() -> flags.mark(own)));
        }
        for (Thread thread : threads) thread.join();
      }, flags::verify);
      case "group" -> rounds(operations, () -> {
        CountDownLatch done = new CountDownLatch(operations);
        Overhead.addAll(body -> start(body::run), flags, 0, operations, done);
        done.await();
      }, flags::verify);
      default -> throw new Protocol.Failure("form is task or group, not " + request.text("param.form"));
    };
  }

  /** A thread for one of the two calls. An operation is such a thread. */
  private Protocol.Measure fib(Protocol.Request request) {
    int number = request.positive("param.n");
    int[] started = new int[number + 1];
    long before = 0;
    long value = 1;
    for (int n = 2; n <= number; ++n) {
      started[n] = started[n - 1] + started[n - 2] + 1;
      long next = before + value;
      before = value;
      value = next;
    }
    long expected = value;
    long[] sum = new long[1];
    return rounds(Math.max(started[number], 1), () -> sum[0] = solve(number), () -> {
      Protocol.check(sum[0] == expected, "fib(" + number + ") gave " + sum[0] + ", not " + expected);
      sum[0] = -1;
    });
  }

  private long solve(int number) throws InterruptedException {
    if (number < 2) return number;
    long[] first = new long[1];
    Thread thread = start(() -> first[0] = solve(number - 1));
    long second = solve(number - 2);
    thread.join();
    return first[0] + second;
  }

  /** A Semaphore with a permit for each that may run. Each yields once. */
  private Protocol.Measure limit(Protocol.Request request) {
    int operations = request.positive("param.ops");
    int limit = request.positive("param.max");
    Work.Flags flags = new Work.Flags(operations);
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    return rounds(operations, () -> {
      CountDownLatch done = new CountDownLatch(operations);
      Semaphore permits = new Semaphore(limit);
      for (int index = 0; index < operations; ++index) {
        int own = index;
        permits.acquire();
        start(() -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          Thread.yield();
          flags.mark(own);
          running.decrementAndGet();
          permits.release();
          done.countDown();
        });
      }
      done.await();
    }, () -> {
      int seen = most.getAndSet(0);
      Protocol.check(seen <= limit, seen + " ran at a time, and " + limit + " may");
      flags.verify();
    });
  }

  /** A thread for each body. All of them sleep for the same time, whatever the number of workers. */
  private Protocol.Measure sleepers(Protocol.Request request) {
    int bodies = request.positive("param.bodies");
    double sleep = request.number("param.sleep_ms") * 1e6;
    Duration each = Duration.ofNanos((long) sleep);
    Work.Flags flags = new Work.Flags(bodies);
    return repeats -> {
      long makespan = 0;
      for (int repeat = 0; repeat < repeats; ++repeat) {
        long begin = System.nanoTime();
        CountDownLatch done = new CountDownLatch(bodies);
        for (int index = 0; index < bodies; ++index) {
          int own = index;
          start(() -> {
            Thread.sleep(each.toMillis(), each.toNanosPart() % 1_000_000);
            flags.mark(own);
            done.countDown();
          });
        }
        try {
          done.await();
        } catch (InterruptedException error) {
          throw new IllegalStateException(error);
        }
        makespan += System.nanoTime() - begin;
        flags.verify();
      }
      double mean = (double) makespan / repeats;
      return List.of(
          new Protocol.Reading("efficiency", "ratio", sleep / mean, (long) bodies * repeats),
          new Protocol.Reading("makespan_ns", "ns", mean, repeats));
    };
  }
}
