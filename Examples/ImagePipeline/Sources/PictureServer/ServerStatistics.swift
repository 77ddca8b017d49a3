#if HTTP
  /// What a server has done since it was made.
  public struct ServerStatistics: Sendable, Hashable {
    /// Requests whose head and end have arrived.
    public var requests = 0
    /// How often each address was asked for. The key is the path with its query, as the client sent it.
    public var requestsByURI: [String: Int] = [:]
    /// Answers by status. An answer counts when its head is sent.
    public var answersByStatus: [Int: Int] = [:]
    /// Bytes of bodies handed to the kernel. Heads do not count.
    public var bytesSent = 0
    /// Requests whose client closed the connection before the answer was complete.
    public var cancelledRequests = 0
    public var openConnections = 0
    /// The largest number of connections open at one time.
    public var largestOpenConnections = 0
    /// All connections there have been.
    public var acceptedConnections = 0

    public init() {}
  }
#endif
