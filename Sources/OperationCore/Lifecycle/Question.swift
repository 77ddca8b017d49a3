import CPlatform

/// What this thread is asking an operation: a property that the thread is reading, or the examination around the reads.
///
/// An overridden property may post a change of the operation, each time that it is read. The queue answers a post by
/// reading the property again, so such a class would be asked for ever. A post from inside a read is therefore noted in
/// the question, and the reader reads again, at most `mostRounds` times. Other code that runs inside of an examination,
/// such as a body on a backend that runs jobs at once, posts as everybody does: something may wait for the answer.
///
/// Questions lie on the stack of their thread, each linked to the one outside of it: a property may run other
/// operations, by waiting for them.
struct Question {
  private let operation: UInt
  /// Only code of the property runs inside.
  private let isRead: Bool
  private let outer: UnsafeMutablePointer<Question>?
  /// What was noted since `ask` was called.
  private var posts = Posts()

  struct Posts: OptionSet {
    let rawValue: UInt8
    static let isFinished = Posts(rawValue: 1)
    static let isReady = Posts(rawValue: 2)
  }

  /// How often a property is read again because reading it posted a change. A class that changes its answer in such a
  /// post does so in the first few rounds.
  static let mostRounds = 100

  /// Runs `body`, which reads a property of the operation.
  /// - Parameter isRead: false: `body` is an examination, whose reads are questions of their own.
  /// - Returns: what `body` returned, and what was noted.
  static func ask<Answer>(
    _ operation: Operation, isRead: Bool = true, _ body: () -> Answer
  ) -> (answer: Answer, posts: Posts) {
    var question = Question(
      operation: operation.word, isRead: isRead, outer: cplatform_question()?.assumingMemoryBound(to: Question.self))
    let answer = withUnsafeMutablePointer(to: &question) { place in
      cplatform_set_question(place)
      defer { cplatform_set_question(place.pointee.outer) }
      return body()
    }
    return (answer, question.posts)
  }

  /// Whether this thread is asking the operation something.
  static func isAsked(about operation: Operation) -> Bool {
    var place = cplatform_question()?.assumingMemoryBound(to: Question.self)
    while let question = place {
      if question.pointee.operation == operation.word { return true }
      place = question.pointee.outer
    }
    return false
  }

  /// Notes a post in the innermost question about the operation on this thread.
  /// - Parameter inRead: whether that question must be a read.
  /// - Returns: false when there is no such question: nothing was noted.
  static func note(_ posts: Posts, about operation: Operation, inRead: Bool) -> Bool {
    var place = cplatform_question()?.assumingMemoryBound(to: Question.self)
    while let question = place, question.pointee.operation != operation.word { place = question.pointee.outer }
    guard let question = place, question.pointee.isRead || !inRead else { return false }
    question.pointee.posts.formUnion(posts)
    return true
  }
}
