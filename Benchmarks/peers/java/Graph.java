import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The graph as opbench wrote it: a line per task, its nanoseconds and the tasks it depends on. */
final class Graph {
  final int[][] inputs;
  final int edges;
  private final double[] nanoseconds;

  // What flows along the edges: each task writes a word of its own for this run, each consumer checks those of all its
  // inputs.
  private final long[] words;
  private final long[] rounds;
  private final AtomicInteger wrong = new AtomicInteger();
  private long run;

  Graph(int[][] inputs) {
    this(inputs, new double[inputs.length]);
  }

  private Graph(int[][] inputs, double[] nanoseconds) {
    this.inputs = inputs;
    this.nanoseconds = nanoseconds;
    int edges = 0;
    for (int[] each : inputs) edges += each.length;
    this.edges = edges;
    words = new long[inputs.length];
    rounds = new long[inputs.length];
  }

  static Graph read(String path) {
    List<String> lines;
    try {
      lines = Files.readAllLines(Path.of(path));
    } catch (IOException error) {
      throw new Protocol.Failure("the graph cannot be read: " + error);
    }
    double[] nanoseconds = new double[lines.size()];
    int[][] inputs = new int[lines.size()][];
    for (int task = 0; task < inputs.length; ++task) {
      String line = lines.get(task);
      String[] fields = line.split(" ");
      try {
        nanoseconds[task] = Double.parseDouble(fields[0]);
        inputs[task] = new int[fields.length - 1];
        for (int field = 1; field < fields.length; ++field) {
          int input = Integer.parseInt(fields[field]);
          Protocol.check(input >= 0 && input < task, "the graph has no task '" + input + "' before this one");
          inputs[task][field - 1] = input;
        }
      } catch (NumberFormatException error) {
        throw new Protocol.Failure("the graph has no task in '" + line + "'");
      }
    }
    return new Graph(inputs, nanoseconds);
  }

  int count() {
    return inputs.length;
  }

  void setWork(double scale, double perMicrosecond) {
    for (int task = 0; task < count(); ++task) rounds[task] = Work.roundsFor(nanoseconds[task] * scale, perMicrosecond);
  }

  void begin() {
    ++run;
  }

  private long word(int task) {
    return run << 32 | task;
  }

  /** The body of a task. */
  void execute(int task) {
    for (int input : inputs[task]) if (words[input] != word(input)) wrong.incrementAndGet();
    if (words[task] == word(task)) wrong.incrementAndGet();
    Work.spin(rounds[task]);
    words[task] = word(task);
  }

  void verify() {
    int missing = 0;
    for (int task = 0; task < count(); ++task) if (words[task] != word(task)) ++missing;
    if (missing > 0 || wrong.get() > 0) {
      throw new Protocol.Failure(
          missing + " tasks did not run, and " + wrong.get() + " ran twice or before an input");
    }
  }
}
