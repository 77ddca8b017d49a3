import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;
import java.util.function.IntConsumer;

/** What operations do, and how it is known that they did it. */
final class Work {
  // The compiler does not know that neither is ever written again.
  private static long first = 0x9e3779b97f4a7c15L;
  private static boolean sawZero;

  private Work() {}

  /** Does the arithmetic of opbench's own work. */
  static void spin(long rounds) {
    long state = first;
    for (long round = 0; round < rounds; ++round) state = (state ^ (state >>> 29)) * 0xbf58476d1ce4e5b9L;
    if (state == 0) sawZero = true;
  }

  static long roundsFor(double nanoseconds, double perMicrosecond) {
    return Math.round(nanoseconds * perMicrosecond / 1000);
  }

  /** A word per operation: each ran exactly once. */
  static final class Flags {
    private final int[] words;

    Flags(int count) {
      words = new int[count];
    }

    int count() {
      return words.length;
    }

    void mark(int index) {
      ++words[index];
    }

    int ran() {
      int ran = 0;
      for (int word : words) if (word != 0) ++ran;
      return ran;
    }

    void verify() {
      for (int index = 0; index < words.length; ++index) {
        if (words[index] != 1) throw new Protocol.Failure("operation " + index + " ran " + words[index] + " times");
        words[index] = 0;
      }
    }
  }

  /** Threads outside of any pool, which all run one job at the same time, as in ThreadTeam.swift. */
  static final class Team {
    private final ArrayDeque<Semaphore> go = new ArrayDeque<>();

    Team(int count, IntConsumer job) {
      for (int number = 0; number < count; ++number) {
        int own = number;
        Semaphore begin = new Semaphore(0);
        Thread thread = new Thread(() -> {
          while (true) {
            begin.acquireUninterruptibly();
            job.accept(own);
          }
        });
        thread.setDaemon(true);
        thread.start();
        go.add(begin);
      }
    }

    /** Lets each thread run the job once, and does not wait. */
    void begin() {
      go.forEach(Semaphore::release);
    }
  }
}
