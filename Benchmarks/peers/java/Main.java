/**
 * The benchmarks of opbench on Java's own schedulers. Started by opbench for one cell at a time; scripts/peers builds
 * the program.
 *
 * <p>Form: a ForkJoinPool of `workers` threads, in which the main thread takes no part; CompletableFuture for
 * dependencies; virtual threads for the family async. The garbage collector and the compiler run as they come. Each
 * family is a file; a new benchmark is a function and its line in the table of one of them. Compiled for Java 17, so
 * that Debian's compiler will do: what is younger is looked up by its name, once.
 */
final class Main {
  public static void main(String[] arguments) {
    Protocol.serve(
        arguments, Overhead.BENCHMARKS, Dependencies.BENCHMARKS, ForkJoin.BENCHMARKS, Loops.BENCHMARKS,
        Virtual.BENCHMARKS);
  }
}
