import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RecursiveAction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Trees whose nodes contribute to one sum, as in ForkJoinTree.swift. */
final class ForkJoin {
  static final Map<String, Protocol.Benchmark> BENCHMARKS = Map.of(
      "forkjoin/break-even", ForkJoin::breakEven,
      "forkjoin/fib", r -> {
        int n = r.integer("param.n");
        return solved(r, () -> new Fib(n), () -> Fib.serial(n));
      },
      "forkjoin/skynet", r -> {
        long leaves = r.count("param.leaves");
        return solved(r, () -> new Skynet(0, leaves), () -> Skynet.serial(0, leaves));
      },
      "forkjoin/nqueens", r -> {
        int n = r.integer("param.n");
        return solved(r, () -> new Queens(n, 0, 0, 0, 0), () -> Queens.serial(n, 0, 0, 0, 0));
      },
      "forkjoin/uts", r -> {
        int depth = r.integer("param.depth");
        int cutoff = r.integer("param.cutoff");
        return solved(r, () -> Uts.root(depth, cutoff), () -> Uts.root(depth, cutoff).nodes());
      });

  private ForkJoin() {}

  /**
   * A node is a task, which forks every child but the last, goes on with that one, and joins the others, the last
   * forked first. A process has one kind of tree, so the compiler binds the calls of its methods.
   */
  private abstract static class Node extends RecursiveAction {
    long sum;
    private Node before;

    abstract long value();

    /** 0 for a leaf. */
    abstract int childCount();

    abstract Node child(int index);

    @Override
    protected final void compute() {
      int count = childCount();
      long total = value();
      if (count > 0) {
        Node forked = null;
        for (int index = 0; index < count - 1; ++index) {
          Node child = child(index);
          child.before = forked;
          forked = child;
          child.fork();
        }
        Node last = child(count - 1);
        last.compute();
        total += last.sum;
        for (; forked != null; forked = forked.before) {
          forked.join();
          total += forked.sum;
        }
      }
      sum = total;
    }

    int taskCount() {
      int tasks = 1;
      for (int index = 0, count = childCount(); index < count; ++index) tasks += child(index).taskCount();
      return tasks;
    }
  }

  private static final class Fib extends Node {
    private final int n;

    Fib(int n) {
      this.n = n;
    }

    @Override long value() {
      return n < 2 ? n : 0;
    }

    @Override int childCount() {
      return n < 2 ? 0 : 2;
    }

    @Override Node child(int index) {
      return new Fib(n - 1 - index);
    }

    static long serial(int n) {
      return n < 2 ? n : serial(n - 1) + serial(n - 2);
    }
  }

  private static final class Skynet extends Node {
    private final long first;
    private final long leaves;

    Skynet(long first, long leaves) {
      this.first = first;
      this.leaves = leaves;
    }

    @Override long value() {
      return leaves == 1 ? first : 0;
    }

    @Override int childCount() {
      return leaves == 1 ? 0 : 10;
    }

    @Override Node child(int index) {
      return new Skynet(first + index * (leaves / 10), leaves / 10);
    }

    static long serial(long first, long leaves) {
      if (leaves == 1) return first;
      long share = leaves / 10;
      long sum = 0;
      for (int index = 0; index < 10; ++index) sum += serial(first + index * share, share);
      return sum;
    }
  }

  private static final class Queens extends Node {
    private final int n;
    private final int row;
    private final int columns;
    private final int left;
    private final int right;

    Queens(int n, int row, int columns, int left, int right) {
      this.n = n;
      this.row = row;
      this.columns = columns;
      this.left = left;
      this.right = right;
    }

    private int free() {
      return ~(columns | left | right) & (1 << n) - 1;
    }

    @Override long value() {
      return row == n ? 1 : 0;
    }

    @Override int childCount() {
      return row == n ? 0 : Integer.bitCount(free());
    }

    @Override Node child(int index) {
      int free = free();
      for (; index > 0; --index) free &= free - 1;
      int square = free & -free;
      return new Queens(n, row + 1, columns | square, (left | square) << 1, (right | square) >>> 1);
    }

    static long serial(int n, int row, int columns, int left, int right) {
      if (row == n) return 1;
      long sum = 0;
      for (int free = ~(columns | left | right) & (1 << n) - 1; free != 0; free &= free - 1) {
        int square = free & -free;
        sum += serial(n, row + 1, columns | square, (left | square) << 1, (right | square) >>> 1);
      }
      return sum;
    }
  }

  /** T1 of the published samples, cut off at a depth; see UnbalancedTreeSearch.swift. The nodes are in C. */
  private static final class Uts extends Node {
    /** The fields of a node in C. The last one is its depth. */
    private final int[] node = new int[6];
    private final int depth;
    private final int cutoff;

    private Uts(int depth, int cutoff) {
      this.depth = depth;
      this.cutoff = cutoff;
    }

    static Uts root(int depth, int cutoff) {
      Uts root = new Uts(depth, cutoff);
      Native.utsRoot(19, root.node);
      return root;
    }

    /** Plain recursion. A node deeper than the cutoff belongs to the task of its ancestor there. */
    long nodes() {
      return Native.utsNodes(node, depth);
    }

    @Override long value() {
      return node[5] < cutoff ? 1 : nodes();
    }

    @Override int childCount() {
      return node[5] < cutoff ? Native.utsChildren(node, depth) : 0;
    }

    @Override Uts child(int index) {
      Uts child = new Uts(depth, cutoff);
      Native.utsChild(node, index, child.node);
      return child;
    }
  }

  /** Bodies of one length, divided into halves; see ForkBreakEven.swift. */
  private static final class Halving extends Node {
    private final long first;
    private final long bodies;
    private final long rounds;

    Halving(long first, long bodies, long rounds) {
      this.first = first;
      this.bodies = bodies;
      this.rounds = rounds;
    }

    @Override long value() {
      if (bodies > 1) return 0;
      if (rounds > 0) Work.spin(rounds);
      return first;
    }

    @Override int childCount() {
      return bodies == 1 ? 0 : 2;
    }

    @Override Node child(int index) {
      long half = bodies / 2;
      return index == 0 ? new Halving(first, half, rounds) : new Halving(first + half, bodies - half, rounds);
    }

    static long serial(long first, long bodies, long rounds) {
      if (bodies == 1) {
        if (rounds > 0) Work.spin(rounds);
        return first;
      }
      long half = bodies / 2;
      return serial(first, half, rounds) + serial(first + half, bodies - half, rounds);
    }
  }

  /** A problem of a sweep. */
  private record Problem(long bodies, long rounds, String detail) {
    Halving tree() {
      return new Halving(0, bodies, rounds);
    }

    Timed alone(Turn turn) {
      return turn.timed(() -> Halving.serial(0, bodies, rounds));
    }

    Timed forked(Turn turn, boolean isOutside) {
      if (isOutside) return turn.timed(() -> solved(Protocol.pool::invoke));
      // One thread of the pool solves the problem again and again.
      return Protocol.pool.submit(() -> turn.timed(() -> solved(Halving::compute))).join();
    }

    private long solved(Consumer<Halving> solve) {
      Halving tree = tree();
      solve.accept(tree);
      return tree.sum;
    }
  }

  /** What solving a problem some times took, and the sum of all results. */
  private record Timed(long nanoseconds, long sum) {}

  /** How often to solve a problem, and how long to be busy behind each solution, while other threads fall asleep. */
  private record Turn(long times, long pause) {
    Timed timed(LongSupplier solve) {
      long sum = 0;
      long paused = 0;
      long start = System.nanoTime();
      for (long each = 0; each < times; ++each) {
        sum += solve.getAsLong();
        if (pause > 0) paused += idle();
      }
      return new Timed(System.nanoTime() - start - paused, sum);
    }

    /** Returns the nanoseconds that the pause took. */
    private long idle() {
      long start = System.nanoTime();
      while (System.nanoTime() - start < pause) Thread.onSpinWait();
      return System.nanoTime() - start;
    }
  }

  private interface Solver {
    Timed solve(Turn turn);
  }

  /**
   * Solves the problems of a sweep by plain recursion and by forks, by turns, as BreakEvenSweep does in Swift. opbench
   * derives where forking pays from the times.
   */
  private static Protocol.Measure breakEven(Protocol.Request request) {
    String from = request.text("param.from");
    Protocol.check(from.equals("worker") || from.equals("outside"), "from is worker or outside, not " + from);
    boolean isOutside = from.equals("outside");
    double least = request.number("sweep_least");
    int turns = request.positive("sweep_turns");
    long pause = request.count("sweep_pause");
    long most = request.positive("sweep_most");
    double rate = request.number("rounds_per_microsecond");
    List<Problem> problems = new ArrayList<>();
    for (String text : request.text("sweep_problems").split(",")) {
      try {
        String[] fields = text.split(":", 2);
        long bodies = Long.parseLong(fields[0]);
        Protocol.check(fields.length == 2 && bodies > 0, "'" + text + "' is no problem");
        String detail = "bodies=" + bodies + ";body_ns=" + fields[1];
        problems.add(new Problem(bodies, Work.roundsFor(Double.parseDouble(fields[1]), rate), detail));
      } catch (NumberFormatException error) {
        throw new Protocol.Failure("'" + text + "' is no problem");
      }
    }
    return sweeps -> {
      List<Protocol.Reading> readings = new ArrayList<>();
      for (Problem problem : problems) {
        Solver alone = problem::alone;
        Solver forked = turn -> problem.forked(turn, isOutside);
        Turn few = new Turn(times(problem, least, pause, most, alone), pause);
        Turn many = new Turn(times(problem, least, pause, most, forked), pause);
        List<Double> plain = new ArrayList<>();
        List<Double> tasks = new ArrayList<>();
        for (int turn = 0; turn < turns * sweeps; ++turn) {
          plain.add(time(problem, few, alone));
          tasks.add(time(problem, many, forked));
        }
        readings.add(
            new Protocol.Reading("serial_ns", "ns", Protocol.median(plain), problem.bodies(), problem.detail()));
        readings.add(
            new Protocol.Reading("makespan_ns", "ns", Protocol.median(tasks), problem.bodies(), problem.detail()));
      }
      return readings;
    };
  }

  /** The nanoseconds of one solution. */
  private static double time(Problem problem, Turn turn, Solver solver) {
    Timed timed = solver.solve(turn);
    long expected = problem.bodies() * (problem.bodies() - 1) / 2 * turn.times();
    Protocol.check(timed.sum() == expected, "the result is " + timed.sum() + " instead of " + expected);
    return (double) Math.max(1, timed.nanoseconds()) / turn.times();
  }

  /** How often to solve a problem, so that the time is filled. */
  private static long times(Problem problem, double least, long pause, long most, Solver solver) {
    for (long times = 1; ; ) {
      long needed = Math.max(1, (long) Math.ceil(least / time(problem, new Turn(times, pause), solver)));
      needed = Math.min(most, needed);
      if (needed <= times) return needed;
      times = Math.min(needed, times * 10);
    }
  }

  private static Protocol.Measure solved(Protocol.Request request, Supplier<Node> root, LongSupplier serial) {
    int tasks = request.positive("tasks");
    long expected = request.count("expected");
    Protocol.check(root.get().taskCount() == tasks, "the tree has another number of tasks than " + tasks);
    return besideOneThread(tasks, () -> null, ignored -> serial.getAsLong(), ignored -> {
      Node node = root.get();
      Protocol.pool.invoke(node);
      return node.sum;
    }, found -> {
      if (found != expected) throw new Protocol.Failure("the result is " + found + " instead of " + expected);
    });
  }

  interface Way<Input, Output> {
    Output of(Input input);
  }

  interface Check<Output> {
    void verify(Output output);
  }

  /**
   * A measure with the speed-up over one thread: `alone` and `together` each make a result of what `prepare` makes, and
   * `verify` checks the result. Only they are timed.
   */
  static <Input, Output> Protocol.Measure besideOneThread(
      int operations, Supplier<Input> prepare, Way<Input, Output> alone, Way<Input, Output> together,
      Check<Output> verify) {
    // The median of at least three runs and two milliseconds, behind those for which the compiler is still at work.
    for (long born = System.nanoTime(); !Protocol.hasPassed(Protocol.WARM / 4, born); ) {
      verify.verify(alone.of(prepare.get()));
    }
    List<Double> times = new ArrayList<>();
    long begin = System.nanoTime();
    do {
      Input input = prepare.get();
      long start = System.nanoTime();
      Output output = alone.of(input);
      times.add((double) (System.nanoTime() - start));
      verify.verify(output);
    } while (!Protocol.hasPassed(500_000_000, begin) && (times.size() < 3 || !Protocol.hasPassed(2_000_000, begin)));
    double median = Protocol.median(times);
    return repeats -> {
      Protocol.Elapsed elapsed = new Protocol.Elapsed();
      for (int repeat = 0; repeat < repeats; ++repeat) {
        Input input = prepare.get();
        long[] start = Protocol.Elapsed.start();
        Output output = together.of(input);
        elapsed.add(start);
        verify.verify(output);
      }
      List<Protocol.Reading> readings = elapsed.readings((long) operations * repeats, 0);
      readings.add(new Protocol.Reading("speedup", "ratio", median * repeats / elapsed.wall(), repeats));
      return readings;
    };
  }
}
