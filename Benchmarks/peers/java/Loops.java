import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;

/** Loops and collections: parallel streams, which run in the pool of the thread that begins them, and parallelSort. */
final class Loops {
  static final Map<String, Protocol.Benchmark> BENCHMARKS = Map.of(
      "forkjoin/perform", Loops::perform,
      "forkjoin/map", Loops::map,
      "forkjoin/sort", Loops::sort);

  private Loops() {}

  private static Protocol.Measure perform(Protocol.Request request) {
    int iterations = request.positive("param.iterations");
    long rounds = Work.roundsFor(request.number("param.work_ns"), request.number("rounds_per_microsecond"));
    Work.Flags flags = new Work.Flags(iterations);
    class Body {
      void run(int index) {
        if (rounds > 0) Work.spin(rounds);
        flags.mark(index);
      }
    }
    Body body = new Body();
    return ForkJoin.besideOneThread(iterations, () -> null, ignored -> {
      for (int index = 0; index < iterations; ++index) body.run(index);
      return null;
    }, ignored -> Protocol.pool.submit(() -> IntStream.range(0, iterations).parallel().forEach(body::run)).join(),
        ignored -> flags.verify());
  }

  /** The numbers of SeededGenerator.swift. */
  private static long[] elements(Protocol.Request request) {
    long seed = request.count("seed");
    long[] elements = new long[request.positive("param.elements")];
    Arrays.setAll(elements, index -> mixed(seed + (index + 1L) * 0x9e3779b97f4a7c15L));
    return elements;
  }

  private static long mixed(long value) {
    value = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    value = (value ^ (value >>> 27)) * 0x94d049bb133111ebL;
    return value ^ (value >>> 31);
  }

  private static Protocol.Measure map(Protocol.Request request) {
    long[] elements = elements(request);
    return ForkJoin.besideOneThread(elements.length, () -> null, ignored -> {
      long[] mapped = new long[elements.length];
      for (int index = 0; index < mapped.length; ++index) mapped[index] = mixed(elements[index]);
      return mapped;
    }, ignored -> Protocol.pool.submit(() -> Arrays.stream(elements).parallel().map(Loops::mixed).toArray()).join(),
        mapped -> {
          boolean isRight = mapped.length == elements.length;
          for (int index = 0; isRight && index < mapped.length; ++index) {
            isRight = mapped[index] == mixed(elements[index]);
          }
          Protocol.check(isRight, "the elements are not those of a plain map");
        });
  }

  /** Java's parallel sort of numbers takes them with their sign. */
  private static Protocol.Measure sort(Protocol.Request request) {
    long[] elements = elements(request);
    long sum = sum(elements);
    return ForkJoin.besideOneThread(elements.length, elements::clone, own -> {
      Arrays.sort(own);
      return own;
    }, own -> Protocol.pool.submit(() -> {
      Arrays.parallelSort(own);
      return own;
    }).join(), sorted -> {
      boolean isSorted = sorted.length == elements.length && sum(sorted) == sum;
      for (int index = 1; isSorted && index < sorted.length; ++index) isSorted = sorted[index - 1] <= sorted[index];
      Protocol.check(isSorted, "the elements are not sorted");
    });
  }

  /** Tells whether two arrays have the same elements, whatever their order. */
  private static long sum(long[] elements) {
    long sum = 0;
    for (long element : elements) sum += mixed(element);
    return sum;
  }
}
