// Primitives is the lowest module in Swift. So a build for another system stops here, and in CPlatform.h, with this
// line and no error of the modules above. The manifest cannot say so: the manifest is compiled for the system that
// builds, and the program may run on another system.
#if !os(Linux)
  #error("Operations is for Linux (it needs futexes and /proc); on other systems use Foundation's OperationQueue")
#endif
