#if HTTP
  import NIOCore
  import Synchronization

  /// What the connections of a server share.
  final class ServerCore: Sendable {
    private struct State {
      var statistics = ServerStatistics()
      var answers = 0
      /// When the modelled link has sent all chunks it was given.
      var linkIsFree = NIODeadline.uptimeNanoseconds(0)
    }
    private let pictures: @Sendable (Int) -> ServedPicture?
    private let network: NetworkModel?
    private let maxAge: Int
    private let state = Mutex(State())

    init(network: NetworkModel?, maxAge: Int, pictures: @escaping @Sendable (Int) -> ServedPicture?) {
      (self.network, self.maxAge, self.pictures) = (network, maxAge, pictures)
    }

    var statistics: ServerStatistics { state.withLock { $0.statistics } }

    func update(_ body: (inout ServerStatistics) -> Void) { state.withLock { body(&$0.statistics) } }

    /// Counts the request, and says how to answer it.
    func answer(method isGet: Bool, uri: String, _ conditions: Conditions) -> Answer {
      let (attempt, serial) = state.withLock { state in
        state.statistics.requests += 1
        state.statistics.requestsByURI[uri, default: 0] += 1
        state.answers += 1
        return (state.statistics.requestsByURI[uri] ?? 1, state.answers)
      }
      guard isGet else { return .text(405, "only GET is served", headers: [("allow", "GET")]) }
      var script: ServerScript
      do {
        script = try ServerScript(uri: uri)
      } catch {
        return .text(error.status, error.text)
      }
      if attempt > script.times { script = script.healed }
      let picture = pictures(script.index)
      if let seed = script.randomSeed {
        script.addRandomFault(seed: seed, uri: uri, attempt: attempt, byteCount: picture?.byteCount ?? 0)
      }
      var answer = Answer(script, uri: uri, picture, conditions, maxAge: maxAge, serial: serial)
      if let network {
        let latency = network.latencyMilliseconds(uri: uri, attempt: attempt)
        answer.delay = answer.delay + .nanoseconds(Int64(min(latency * 1e6, 1e15)))
      }
      return answer
    }

    /// When the modelled link takes a chunk of this size. The chunk has its place on the link from now on.
    func placeOnLink(byteCount: Int) -> NIODeadline? {
      guard let rate = network?.bytesPerSecond else { return nil }
      let time = TimeAmount.nanoseconds(Int64(Double(byteCount) / rate * 1e9))
      return state.withLock {
        $0.linkIsFree = max($0.linkIsFree, .now()) + time
        return $0.linkIsFree
      }
    }
  }
#endif
