import OperationBackends
import Testing

/// Strategies as text, as a command line and a table have them.
struct StrategyTextTests {
  @Test func theDefaultIsNothing() throws {
    #expect(StealingStrategy().description.isEmpty && ThreadPoolStrategy().description.isEmpty)
    #expect(try StealingStrategy("") == StealingStrategy() && ThreadPoolStrategy("") == ThreadPoolStrategy())
    #expect(StealingBackend(workers: 1).name == "stealing" && ThreadPoolBackend(workers: 1).name == "threadpool")
    // What is as in the default is not said.
    #expect(try StealingStrategy("own=fifo;steal=half").description == "steal=half")
  }

  @Test func decisionsKeepTheirOrder() throws {
    let strategy = try StealingStrategy("search=us:7;steal=upto:8;own=lifo:3")
    #expect(strategy.ownEnd == .lifoWithTurn(every: 3) && strategy.stealAmount == .upTo(8))
    #expect(strategy.search == .microseconds(7))
    #expect(strategy.description == "own=lifo:3;steal=upto:8;search=us:7")
    let backend = StealingBackend(workers: 1, strategy: strategy)
    #expect(backend.name == "stealing(own=lifo:3;steal=upto:8;search=us:7)" && backend.strategy == strategy)
    #expect(ThreadPoolBackend(workers: 1, strategy: try .init("order=fifo")).name == "threadpool(order=fifo)")
  }

  @Test func everyChangeIsReadBack() throws {
    func check<Strategy: PoolStrategy>(_ type: Strategy.Type, least: Int) throws {
      let changes = Strategy.singleChanges()
      #expect(Set(changes).count == changes.count && changes.count >= least)
      for strategy in changes {
        #expect(try Strategy(strategy.description) == strategy && strategy.checked == strategy)
        #expect(strategy.description.filter { $0 == "=" }.count == 1)
      }
      #expect(Set(Strategy.decisions.map(\.name)).count == Strategy.decisions.count)
      for decision in Strategy.decisions {
        // Names can stand in a CSV and in a table.
        for text in [decision.name] + decision.choices.map(\.text) {
          #expect(!text.contains { ",;=() ".contains($0) }, "\(text)")
        }
      }
    }
    try check(StealingStrategy.self, least: 45)
    try check(ThreadPoolStrategy.self, least: 20)
  }

  @Test func whatAStrategyGivesUp() throws {
    #expect(StealingStrategy().givenUpRows.isEmpty && ThreadPoolStrategy().givenUpRows.isEmpty)
    for text in ["own=lifo", "own=lifo:2", "priorities=ignored", "own=lifo;priorities=ignored"] {
      #expect(try StealingStrategy(text).givenUpRows == [20], "\(text)")
    }
    for text in ["priorities=multi:2", "priorities=sticky:8", "least=2", "place=roundrobin"] {
      #expect(try StealingStrategy(text).givenUpRows == [20], "\(text)")
    }
    #expect(try StealingStrategy("priorities=strict;least=1").givenUpRows.isEmpty)
    #expect(try StealingStrategy("waiting=helps").givenUpRows == [28])
    #expect(try ThreadPoolStrategy("order=lifo;waiting=helps").givenUpRows == [20, 28])
    for text in ["order=fifo", "order=lifo;locks=perlevel"] {
      #expect(try ThreadPoolStrategy(text).givenUpRows == [20], "\(text)")
    }
    #expect(try StealingStrategy("steal=half;victim=last;waking=all").givenUpRows.isEmpty)
  }

  @Test(arguments: [
    ("own", "'own' is no decision: it takes name=choice, with ; between, such as own=lifo"),
    ("own=lifo;", "'' is no decision: it takes name=choice, with ; between, such as own=lifo"),
    ("ends=lifo", "there is no decision 'ends': there are own, successor, run, steal, victim, least, "),
    ("own=lifo;own=fifo", "'own' is given twice: it takes one choice"),
    ("own=newest", "'own' has no choice 'newest': it takes fifo, lifo or lifo:N (N from 2 to 1000)"),
    ("own=lifo:1", "'own=lifo:1' is out of range: N is from 2 to 1000"),
    ("own=lifo:x", "'own' has no choice 'lifo:x': it takes fifo, "),
    ("outside=0", "'outside=0' is out of range: N is from 1 to 1000000"),
    ("outside=many", "'outside' has no choice 'many': it takes N (N from 1 to 1000000)"),
    ("outside=99999999999999999999", "'outside' has no choice '99999999999999999999': "),
    ("search=us:-1", "'search=us:-1' is out of range: N is from 0 to 10000"),
  ])
  func mistakesAreOneLine(text: String, says: String) {
    #expect { try StealingStrategy(text) } throws: { "\($0)".hasPrefix(says) }
  }
}
