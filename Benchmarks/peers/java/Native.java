/** What Java does not say: native.cpp. */
final class Native {
  static {
    System.load(System.getProperty("peer.library"));
  }

  private Native() {}

  /** The time, the CPU time of this process, and its voluntary and involuntary context switches. */
  static native void counters(long[] counters);

  /**
   * Moves this thread onto the CPU of that index among those it may use, modulo their number; where it may run stays as
   * it is. Each block of a run begins on the next CPU, with all its programs.
   */
  static native void begin(long place);

  /** Stops all threads of this process before it returns, until somebody lets the process go on. */
  static native void stop();

  // A node of Unbalanced Tree Search in an array, as UnbalancedTree.h has it.

  static native void utsRoot(int seed, int[] root);

  static native void utsChild(int[] parent, int index, int[] child);

  static native int utsChildren(int[] node, int depth);

  static native long utsNodes(int[] node, int depth);
}
