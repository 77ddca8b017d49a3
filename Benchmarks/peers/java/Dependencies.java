import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;

/**
 * Dependencies as a CompletableFuture has them: each task is a stage behind its inputs, which may have ended. Tasks run
 * while others are still being added.
 */
final class Dependencies {
  static final Map<String, Protocol.Benchmark> BENCHMARKS = Map.of(
      "dependencies/chain", Dependencies::chain,
      "dependencies/fan-in", Dependencies::fanIn,
      "dependencies/fan-out", Dependencies::shape,
      "dependencies/diamond", Dependencies::shape,
      "dependencies/tree", Dependencies::shape,
      "dependencies/graph", Dependencies::graph,
      "dependencies/metg", Dependencies::granularity);

  private Dependencies() {}

  /** Makes the stages of a graph, which call `body` once for each task, and waits for those that no other waits for. */
  static void run(int[][] inputs, IntConsumer body) {
    CompletableFuture<?>[] added = new CompletableFuture<?>[inputs.length];
    boolean[] isInput = new boolean[inputs.length];
    for (int task = 0; task < inputs.length; ++task) {
      int own = task;
      for (int input : inputs[task]) isInput[input] = true;
      added[task] = stage(inputs[task], added, () -> body.accept(own), Protocol.pool);
    }
    List<CompletableFuture<?>> last = new ArrayList<>();
    for (int task = 0; task < inputs.length; ++task) if (!isInput[task]) last.add(added[task]);
    CompletableFuture.allOf(last.toArray(CompletableFuture<?>[]::new)).join();
  }

  private static CompletableFuture<Void> stage(
      int[] inputs, CompletableFuture<?>[] added, Runnable body, Executor pool) {
    return switch (inputs.length) {
      case 0 -> CompletableFuture.runAsync(body, pool);
      case 1 -> added[inputs[0]].thenRunAsync(body, pool);
      case 2 -> added[inputs[0]].runAfterBothAsync(added[inputs[1]], body, pool);
      default -> {
        CompletableFuture<?>[] all = new CompletableFuture<?>[inputs.length];
        for (int index = 0; index < all.length; ++index) all[index] = added[inputs[index]];
        yield CompletableFuture.allOf(all).thenRunAsync(body, pool);
      }
    };
  }

  private static Protocol.Measure chain(Protocol.Request request) {
    int length = request.positive("param.length");
    int[][] inputs = new int[length][];
    for (int task = 0; task < length; ++task) inputs[task] = task == 0 ? new int[0] : new int[] {task - 1};
    class Order {
      int visited;
      boolean isInOrder = true;

      void visit(int task) {
        if (visited++ != task) isInOrder = false;
      }

      void verify() {
        if (!isInOrder || visited != length) {
          throw new Protocol.Failure("a chain ran " + visited + " tasks, or out of order");
        }
        visited = 0;
      }
    }
    Order order = new Order();
    return Protocol.rounds(length, length - 1, () -> run(inputs, order::visit), order::verify);
  }

  private static Protocol.Measure fanIn(Protocol.Request request) {
    int width = request.positive("param.width");
    int[][] inputs = new int[width + 1][0];
    inputs[width] = new int[width];
    Arrays.setAll(inputs[width], index -> index);
    class Join {
      final Work.Flags flags = new Work.Flags(width);
      int seen;
      int arrivals;

      void execute(int task) {
        if (task < width) {
          flags.mark(task);
        } else {
          seen = flags.ran();
          ++arrivals;
        }
      }

      void verify() {
        Protocol.check(
            arrivals == 1 && seen == width, "the join ran " + arrivals + " times and saw " + seen + " inputs complete");
        arrivals = 0;
        flags.verify();
      }
    }
    Join join = new Join();
    return Protocol.rounds(width + 1, width, () -> run(inputs, join::execute), join::verify);
  }

  /** Runs the graph once; gives the time from the first task added to the end of the last. */
  private static long once(Graph graph, Protocol.Elapsed elapsed) {
    graph.begin();
    long[] start = Protocol.Elapsed.start();
    long added = System.nanoTime();
    run(graph.inputs, graph::execute);
    long makespan = System.nanoTime() - added;
    elapsed.add(start);
    graph.verify();
    return makespan;
  }

  /** A graph without work: what a task and a dependency cost. */
  private static Protocol.Measure shape(Protocol.Request request) {
    Graph graph = Graph.read(request.text("graph"));
    return repeats -> {
      Protocol.Elapsed elapsed = new Protocol.Elapsed();
      for (int repeat = 0; repeat < repeats; ++repeat) once(graph, elapsed);
      return elapsed.readings((long) graph.count() * repeats, (long) graph.edges * repeats);
    };
  }

  private static Protocol.Measure graph(Protocol.Request request) {
    Graph graph = Graph.read(request.text("graph"));
    graph.setWork(1, request.number("rounds_per_microsecond"));
    double bound = request.number("bound_ns");
    return repeats -> {
      Protocol.Elapsed elapsed = new Protocol.Elapsed();
      double total = 0;
      for (int repeat = 0; repeat < repeats; ++repeat) total += once(graph, elapsed);
      List<Protocol.Reading> readings = elapsed.readings((long) graph.count() * repeats, (long) graph.edges * repeats);
      readings.add(new Protocol.Reading("makespan_ns", "ns", total / repeats, repeats));
      if (bound > 0) readings.add(new Protocol.Reading("efficiency", "ratio", bound / (total / repeats), repeats));
      return readings;
    };
  }

  /**
   * The shortest makespan for each granularity, of a graph whose work shrinks from run to run: as
   * GranularitySweep.swift does it, which also gave the limits. opbench derives METG from what is printed here.
   */
  private static Protocol.Measure granularity(Protocol.Request request) {
    Graph graph = Graph.read(request.text("graph"));
    double rate = request.number("rounds_per_microsecond");
    double ideal = request.number("load") / request.number("cores") / request.number("peak");
    double first = request.number("sweep_first");
    double largest = request.number("sweep_largest");
    double smallest = request.number("sweep_smallest");
    double plenty = request.number("sweep_plenty");
    double little = request.number("sweep_little");
    double enough = request.number("sweep_enough");
    double gain = request.number("sweep_gain");
    double step = request.number("sweep_step");
    double runTime = request.number("sweep_run_time");
    int runs = request.integer("sweep_runs");
    int attempts = request.integer("sweep_attempts");
    int lowInARow = request.integer("sweep_low_in_a_row");
    class Sweep {
      double top;

      double best(double work) {
        graph.setWork(work, rate);
        double shortest = Double.POSITIVE_INFINITY;
        double total = 0;
        for (int run = 0; run < runs && total < runTime; ++run) {
          Protocol.Elapsed elapsed = new Protocol.Elapsed();
          once(graph, elapsed);
          shortest = Math.min(shortest, elapsed.wall());
          total += elapsed.wall();
        }
        return shortest;
      }

      double efficiency(double work, double makespan) {
        return work * ideal / makespan;
      }

      void findTop() {
        top = first;
        double reached = efficiency(top, best(top));
        while (top < largest && reached < plenty) {
          double next = efficiency(top * 2, best(top * 2));
          if (reached > enough && next < reached + gain) break;
          top *= 2;
          reached = next;
        }
      }

      List<Protocol.Reading> run(int sweeps) {
        if (top == 0) findTop();
        Map<Double, Double> shortest = new LinkedHashMap<>();
        for (int sweep = 0; sweep < sweeps + attempts; ++sweep) {
          // More sweeps than asked for only where others had the CPUs.
          boolean isReached = shortest.entrySet().stream().anyMatch(e -> efficiency(e.getKey(), e.getValue()) >= 0.5);
          if (sweep >= sweeps && isReached) break;
          int low = 0;
          for (double work = top; work >= smallest && low < lowInARow; work /= step) {
            double found = shortest.merge(work, best(work), Math::min);
            low = efficiency(work, found) < little ? low + 1 : 0;
          }
        }
        List<Protocol.Reading> readings = new ArrayList<>();
        shortest.forEach((work, makespan) ->
            readings.add(new Protocol.Reading("makespan_ns", "ns", makespan, graph.count(), "work_ns=" + work)));
        return readings;
      }
    }
    return new Sweep()::run;
  }
}
