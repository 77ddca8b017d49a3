import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;

/** What opbench and its peers say to each other: arguments in, lines out. */
final class Protocol {
  /** The version of the protocol, which is PeerProtocol.version of opbench. */
  private static final int VERSION = 1;

  /**
   * For how long at least the values of a lead-in run, in nanoseconds, whatever the request says. A process begins with
   * an interpreter, and its compiler needs that long: see the README.
   */
  static final long WARM = 1_000_000_000L;

  /** Runs and checks n repeats, and gives one value. */
  interface Measure {
    List<Reading> of(int repeats);
  }

  /** Does everything that is not to be timed. */
  interface Benchmark extends Function<Request, Measure> {}

  record Reading(String metric, String unit, double value, long count, String detail) {
    Reading(String metric, String unit, double value, long count) {
      this(metric, unit, value, count, "");
    }
  }

  /** What was asked for cannot be done, or what was done is wrong. */
  static final class Failure extends RuntimeException {
    Failure(String message) {
      super(message);
    }
  }

  static void check(boolean holds, String message) {
    if (!holds) throw new Failure(message);
  }

  /** The key=value arguments. What is missing or no number is a failure. */
  static final class Request {
    private final Map<String, String> values = new HashMap<>();

    Request(String[] arguments) {
      for (String argument : arguments) {
        int equals = argument.indexOf('=');
        check(equals >= 0, "'" + argument + "' is not key=value");
        values.put(argument.substring(0, equals), argument.substring(equals + 1));
      }
    }

    boolean has(String key) {
      return values.containsKey(key);
    }

    String text(String key) {
      check(has(key), "the request has no " + key);
      return values.get(key);
    }

    /** A number of 64 bits without a sign. */
    long count(String key) {
      try {
        return Long.parseUnsignedLong(text(key));
      } catch (NumberFormatException error) {
        throw new Failure(key + " is no number in the request");
      }
    }

    /** One that is no larger than arrays are. */
    int integer(String key) {
      long value = count(key);
      check(value >= 0 && value <= Integer.MAX_VALUE, key + " is too large in the request");
      return (int) value;
    }

    /** At least 1. */
    int positive(String key) {
      int value = integer(key);
      check(value > 0, key + " is 0 in the request");
      return value;
    }

    double number(String key) {
      try {
        return Double.parseDouble(text(key));
      } catch (NumberFormatException error) {
        throw new Failure(key + " is no number in the request");
      }
    }
  }

  // ---- Clocks and counters ----

  /** What passed, summed over several timed stretches. */
  static final class Elapsed {
    private long wall;
    private long cpu;
    private long voluntary;
    private long involuntary;

    /** Four numbers: the time, the CPU time of this process, and its context switches of both kinds. */
    static long[] start() {
      long[] start = new long[4];
      Native.counters(start);
      return start;
    }

    void add(long[] start) {
      long[] end = start();
      wall += end[0] - start[0];
      cpu += end[1] - start[1];
      voluntary += end[2] - start[2];
      involuntary += end[3] - start[3];
    }

    long wall() {
      return wall;
    }

    List<Reading> readings(long operations, long edges) {
      List<Reading> readings = new ArrayList<>(List.of(
          new Reading("ns_per_op", "ns", (double) wall / operations, operations),
          new Reading("cpu_ns_per_op", "ns", (double) cpu / operations, operations),
          new Reading("voluntary_switches_per_op", "switches", (double) voluntary / operations, operations),
          new Reading("involuntary_switches_per_op", "switches", (double) involuntary / operations, operations)));
      if (edges > 0) readings.add(new Reading("ns_per_edge", "ns", (double) wall / edges, edges));
      return readings;
    }
  }

  // ---- Calibrating and timing ----

  /** The measure of most benchmarks: `once` is timed, `verify` fails when it did anything other than asked. */
  static Measure rounds(int operations, int edges, Runnable once, Runnable verify) {
    return repeats -> {
      Elapsed elapsed = new Elapsed();
      for (int repeat = 0; repeat < repeats; ++repeat) {
        long[] start = Elapsed.start();
        once.run();
        elapsed.add(start);
        verify.run();
      }
      return elapsed.readings((long) operations * repeats, (long) edges * repeats);
    };
  }

  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }

  static boolean hasPassed(long nanoseconds, long start) {
    return Long.compareUnsigned(System.nanoTime() - start, nanoseconds) >= 0;
  }

  /** How long the timed work of some repeats takes, in nanoseconds. */
  private static long timed(Measure measure, int repeats) {
    long start = System.nanoTime();
    List<Reading> readings = measure.of(repeats);
    for (String metric : List.of("ns_per_op", "makespan_ns")) {
      for (Reading reading : readings) {
        if (reading.metric().equals(metric)) return Math.max(1, (long) (reading.value() * reading.count()));
      }
    }
    return Math.max(1, System.nanoTime() - start);
  }

  private static long warm(long leadIn) {
    return leadIn == 0 || Long.compareUnsigned(leadIn, WARM) > 0 ? leadIn : WARM;
  }

  /**
   * As MeasuringProcess.swift and Calibration.swift do: after the lead-in, at most ten times as many repeats at a time,
   * and no more than a slower subject needed; the median of three attempts.
   */
  private static int calibrate(Measure measure, long target, int limit, long leadIn) {
    long born = System.nanoTime();
    long led = timed(measure, 1);
    while (!hasPassed(warm(leadIn), born)) led = timed(measure, 1);
    int repeats = 1;
    int[] answers = new int[3];
    for (int answered = 0; answered < answers.length; ) {
      long took = Math.min(timed(measure, repeats), led);
      led = Long.MAX_VALUE;
      double needed = Math.max(1, Math.ceil(target / ((double) took / repeats)));
      if (took >= target) {
        if (repeats == 1 && took >= 2 * target) return 1;
        answers[answered] = (int) Math.min(needed, limit);
        repeats = Math.max(answers[answered++], (repeats + 1) / 2);
      } else if (repeats >= limit) {
        return limit;
      } else {
        repeats = (int) Math.min(Math.min(Math.max(needed, repeats + 1.0), repeats * 10.0), limit);
      }
    }
    Arrays.sort(answers);
    return answers[1];
  }

  /**
   * Runs until the lead-in has passed, at least once if there is one; then takes values until the budget has passed, at
   * least one. Prints nothing before the last value: threads would fall asleep meanwhile, and the first repeat of a
   * value be dearer. In turns, stops before each value until opbench lets the process go on, and runs once uncounted.
   */
  private static void time(
      PrintStream out, Measure measure, int repeats, int more, int values, long leadIn, long budget, boolean inTurns) {
    if (leadIn != 0) {
      long born = System.nanoTime();
      do measure.of(repeats);
      while (!hasPassed(warm(leadIn), born));
    }
    List<List<Reading>> taken = new ArrayList<>();
    long spent = 0;
    do {
      if (inTurns) {
        out.println("turn");
        out.flush();
        Native.stop();
        measure.of(repeats);
      }
      long start = System.nanoTime();
      taken.add(measure.of(taken.size() % 2 == 0 ? repeats : repeats + more));
      spent += System.nanoTime() - start;
    } while (taken.size() < values && Long.compareUnsigned(spent, budget) < 0);
    for (int index = 0; index < taken.size(); ++index) {
      for (Reading reading : taken.get(index)) {
        out.println(String.join("\t",
            "reading", "" + (index + 1), reading.metric(), reading.unit(), "" + reading.value(), "" + reading.count(),
            reading.detail()));
      }
    }
  }

  private static int atMostAnInt(long count) {
    return count >>> 31 == 0 ? (int) count : Integer.MAX_VALUE;
  }

  private static void run(PrintStream out, Request request, Benchmark benchmark) {
    switch (request.text("mode")) {
      case "calibrate" -> {
        long target = request.count("target");
        long limit = request.count("limit");
        check(limit != 0, "limit is 0 in the request");
        long leadIn = request.count("lead_in");
        out.println("repeats\t" + calibrate(benchmark.apply(request), target, atMostAnInt(limit), leadIn));
      }
      case "time" -> {
        int repeats = request.positive("repeats");
        int more = request.integer("more");
        int values = request.positive("values");
        long leadIn = request.count("lead_in");
        long budget = request.count("budget");
        time(out, benchmark.apply(request), repeats, more, values, leadIn, budget, request.has("turns"));
      }
      default -> throw new Failure("there is no mode " + request.text("mode"));
    }
    out.println("end");
  }

  /** The pool of the request. The main thread hands work over and waits. */
  static ForkJoinPool pool;

  @SafeVarargs
  private static void answer(PrintStream out, String[] arguments, Map<String, Benchmark>... families) {
    Request request = new Request(arguments);
    if (request.has("place")) Native.begin(request.count("place"));
    String name = request.text("benchmark");
    for (Map<String, Benchmark> family : families) {
      if (!family.containsKey(name)) continue;
      check(!request.has("strategy"), "'java' has no strategy to choose");
      int workers = request.positive("workers");
      // Of the number of threads in the common pool a sort makes its decisions, also in another pool.
      System.setProperty("java.util.concurrent.ForkJoinPool.common.parallelism", "" + workers);
      System.setProperty("jdk.virtualThreadScheduler.parallelism", "" + workers);
      pool = new ForkJoinPool(workers);
      run(out, request, family.get(name));
      return;
    }
    throw new Failure("there is no " + name + " on java");
  }

  @SafeVarargs
  static void serve(String[] arguments, Map<String, Benchmark>... families) {
    // Lines are written together, behind the last value.
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false);
    try {
      if (Arrays.equals(arguments, new String[] {"version"})) {
        out.println("opbench-peer\t" + VERSION + "\nversion\tJava " + Runtime.version());
        for (Map<String, Benchmark> family : families) {
          family.keySet().forEach(name -> out.println("benchmark\t" + name));
        }
        out.println("end");
      } else {
        answer(out, arguments, families);
      }
    } catch (Throwable failure) {
      Throwable cause = failure;
      while (cause.getCause() != null) cause = cause.getCause();
      String message = cause instanceof Failure ? cause.getMessage() : cause.toString();
      out.println("failure\t" + message.replace('\n', ' ').replace('\t', ' '));
    }
    out.flush();
  }
}
