// Primitives is the lowest module in Swift, so a build elsewhere stops here, and in CPlatform.h, with this line and nothing of
// the modules above. The manifest cannot say so: it is compiled for the system that builds, which may not be the one that runs.
#if !os(Linux)
  #error("Operations is for Linux (it needs futexes and /proc); on other systems use Foundation's OperationQueue")
#endif
