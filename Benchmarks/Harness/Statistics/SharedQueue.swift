/// One queue that all servers share, where nothing but the service takes time: what queueing itself costs. With Poisson
/// arrivals in the order of arrival this is M/G/k of queueing theory.
package struct SharedQueue {
  /// What is done about long requests.
  package enum Long: String, CaseIterable, Sendable {
    /// Nothing: a request is a request.
    case same
    /// They are less urgent: a server that is free takes a short one first.
    case later
    /// They are less urgent, and never have the last server.
    case limited
    /// They are less urgent, and give their server back after each piece.
    case divided
    /// They are less urgent, and servers with nothing else to do take pieces of one that another server has begun.
    case forked
  }

  /// How long each request is there, from its arrival to its end.
  /// - Parameters:
  ///   - arrivals: when the requests come, in ascending order.
  ///   - services: how long each takes. All times have one unit.
  ///   - servers: how many requests are served at a time.
  ///   - isLong: which requests are long; empty: none is.
  ///   - piece: how long a piece of a long request takes.
  /// - Complexity: O(servers) for each request and each piece.
  package static func sojourns(
    arrivals: [Double], services: [Double], servers: Int, long: Long = .same, isLong: [Bool] = [],
    piece: Double = .infinity
  ) -> [Double] {
    precondition(servers > 0 && arrivals.count == services.count, "a service time for each arrival, and a server")
    var queue = SharedQueue(arrivals, services, servers, long, isLong, piece: piece)
    queue.run()
    return zip(queue.ends, arrivals).map { $0 - $1 }
  }

  /// What a server does.
  private struct Turn {
    let request: Int
    let end: Double
    /// Whether the server goes on with the next piece of the request.
    let owns: Bool
  }

  private let arrivals: [Double]
  private let services: [Double]
  private let long: Long
  private let isLongRequest: [Bool]
  private let piece: Double

  private var ends: [Double]
  /// What no server has taken yet of each request.
  private var left: [Double]
  /// How many servers are at each request.
  private var crew: [Int]
  private var turns: [Turn?]
  private var urgent = Line()
  private var others = Line()
  /// The requests that have begun and have pieces left.
  private var divisible: [Int] = []
  private var longsServed = 0

  /// Requests in order.
  private struct Line {
    private var items: [Int] = []
    private var head = 0
    var isEmpty: Bool { head == items.count }
    mutating func append(_ item: Int) { items.append(item) }
    mutating func removeFirst() -> Int {
      defer { head += 1 }
      return items[head]
    }
  }

  private init(
    _ arrivals: [Double], _ services: [Double], _ servers: Int, _ long: Long, _ isLong: [Bool], piece: Double
  ) {
    (self.arrivals, self.services, self.long, isLongRequest, self.piece) = (arrivals, services, long, isLong, piece)
    (ends, left) = (services, services)
    crew = Array(repeating: 0, count: services.count)
    turns = Array(repeating: nil, count: servers)
  }

  private func isLong(_ request: Int) -> Bool { long != .same && isLongRequest[request] }

  private mutating func run() {
    var next = 0
    while true {
      let (server, end) = nextToEnd
      if next < arrivals.count, arrivals[next] <= end {
        if isLong(next) { others.append(next) } else { urgent.append(next) }
        serve(at: arrivals[next])
        next += 1
      } else if let server {
        finish(server, at: end)
        serve(at: end)
      } else {
        return
      }
    }
  }

  /// The server that has done its piece first, and when; nil and never where none is at work.
  private var nextToEnd: (server: Int?, time: Double) {
    var next: (server: Int?, time: Double) = (nil, .infinity)
    for (server, turn) in turns.enumerated() {
      if let turn, turn.end < next.time { next = (server, turn.end) }
    }
    return next
  }

  /// A server has done its piece.
  private mutating func finish(_ server: Int, at now: Double) {
    let turn = turns[server]!
    turns[server] = nil
    let request = turn.request
    crew[request] -= 1
    if turn.owns, long == .forked, isLong(request), left[request] > 0 {
      return begin(request, on: server, at: now, owns: true)
    }
    if left[request] == 0, crew[request] == 0 { ends[request] = now }
    guard isLong(request) else { return }
    if long != .forked || turn.owns { longsServed -= 1 }
    if long == .divided, left[request] > 0 { others.append(request) }
  }

  /// The servers that are free take what there is.
  private mutating func serve(at now: Double) {
    for server in turns.indices where turns[server] == nil {
      if !urgent.isEmpty {
        begin(urgent.removeFirst(), on: server, at: now, owns: true)
      } else if !others.isEmpty, long != .limited || longsServed < max(1, turns.count - 1) {
        longsServed += 1
        begin(others.removeFirst(), on: server, at: now, owns: true)
      } else if let request = divisible.first {
        begin(request, on: server, at: now, owns: false)
      }
    }
  }

  private mutating func begin(_ request: Int, on server: Int, at now: Double, owns: Bool) {
    let divides = (long == .divided || long == .forked) && isLong(request)
    let work = divides ? min(piece, left[request]) : left[request]
    left[request] -= work
    crew[request] += 1
    turns[server] = Turn(request: request, end: now + work, owns: owns)
    guard long == .forked, divides else { return }
    divisible.removeAll { $0 == request }
    if left[request] > 0 { divisible.append(request) }
  }
}
