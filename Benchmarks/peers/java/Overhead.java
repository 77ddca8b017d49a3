import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/** ForkJoinPool.execute for each operation, and a CountDownLatch for all. */
final class Overhead {
  static final Map<String, Protocol.Benchmark> BENCHMARKS = Map.of(
      "overhead/external-add", Overhead::externalAdd,
      "overhead/local-add", Overhead::localAdd,
      "overhead/contended-add", Overhead::contendedAdd);

  private Overhead() {}

  /** A task for each flag from `first` on, of which the latch knows. */
  static void addAll(Executor pool, Work.Flags flags, int first, int end, CountDownLatch done) {
    for (int index = first; index < end; ++index) {
      int own = index;
      pool.execute(() -> {
        flags.mark(own);
        done.countDown();
      });
    }
  }

  static void await(CountDownLatch done) {
    try {
      done.await();
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private static Protocol.Measure externalAdd(Protocol.Request request) {
    int operations = request.positive("param.ops");
    Work.Flags flags = new Work.Flags(operations);
    Runnable add = () -> {
      CountDownLatch done = new CountDownLatch(operations);
      addAll(Protocol.pool, flags, 0, operations, done);
      await(done);
    };
    return Protocol.rounds(operations, 0, add, flags::verify);
  }

  private static Protocol.Measure localAdd(Protocol.Request request) {
    int operations = request.positive("param.ops");
    Work.Flags flags = new Work.Flags(operations);
    Runnable add = () -> {
      CountDownLatch done = new CountDownLatch(operations);
      Protocol.pool.execute(() -> addAll(Protocol.pool, flags, 0, operations, done));
      await(done);
    };
    return Protocol.rounds(operations, 0, add, flags::verify);
  }

  private static Protocol.Measure contendedAdd(Protocol.Request request) {
    int operations = request.positive("param.ops");
    int producers = request.positive("param.producers");
    Work.Flags flags = new Work.Flags(operations);
    CountDownLatch[] done = new CountDownLatch[1];
    Work.Team team = new Work.Team(producers, producer -> {
      int first = (int) ((long) producer * operations / producers);
      int end = (int) ((producer + 1L) * operations / producers);
      addAll(Protocol.pool, flags, first, end, done[0]);
    });
    Runnable add = () -> {
      done[0] = new CountDownLatch(operations);
      team.begin();
      await(done[0]);
    };
    return Protocol.rounds(operations, 0, add, flags::verify);
  }
}
