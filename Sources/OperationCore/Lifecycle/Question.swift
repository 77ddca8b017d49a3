import CPlatform

/// A property of an operation that this thread is reading, while it reads the property.
///
/// An overridden property may post a change of the operation, each time that it is read. The queue answers a post by
/// reading the property again, so such a class would be asked for ever. A post from inside a question is therefore
/// noted in the question, and whoever asks asks again, at most `mostRounds` times.
///
/// Questions lie on the stack of their thread, each linked to the one outside of it: a property may run other
/// operations, by waiting for them.
struct Question {
  private let operation: UInt
  private let outer: UnsafeMutablePointer<Question>?
  /// What was posted from inside since `ask` was called.
  private var posts = Posts()

  struct Posts: OptionSet {
    let rawValue: UInt8
    static let isFinished = Posts(rawValue: 1)
    static let isReady = Posts(rawValue: 2)
  }

  /// How often a property is read again because reading it posted a change. A class that changes its answer in such a
  /// post does so in the first few rounds.
  static let mostRounds = 100

  /// Runs `body`, code that reads properties of the operation.
  /// - Returns: what `body` returned, and what it posted.
  static func ask<Answer>(_ operation: Operation, _ body: () -> Answer) -> (answer: Answer, posts: Posts) {
    var question = Question(
      operation: operation.word, outer: cplatform_question()?.assumingMemoryBound(to: Question.self))
    let answer = withUnsafeMutablePointer(to: &question) { place in
      cplatform_set_question(place)
      defer { cplatform_set_question(place.pointee.outer) }
      return body()
    }
    return (answer, question.posts)
  }

  /// Notes a post in the innermost question about the operation on this thread.
  /// - Returns: false when this thread is not asking the operation anything.
  static func note(_ posts: Posts, about operation: Operation) -> Bool {
    var place = cplatform_question()?.assumingMemoryBound(to: Question.self)
    while let question = place, question.pointee.operation != operation.word { place = question.pointee.outer }
    place?.pointee.posts.formUnion(posts)
    return place != nil
  }
}
