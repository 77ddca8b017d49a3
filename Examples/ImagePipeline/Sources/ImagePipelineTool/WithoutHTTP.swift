#if !HTTP
  import Glibc

  /// Built without the trait `HTTP`, the command can only say so.
  @main
  enum ImagePipelineTool {
    static func main() throws {
      try FileHandles.standardError(
        "imagepipeline: built without the trait HTTP, so nothing can be downloaded: build with it\n")
      exit(69)
    }
  }
#endif
