/// The tasks of handlers whose result the hub may wait for. Each counts until it has ended, cancelled or not.
struct Answers {
    private var tasks: [UInt64: (task: Task<Void, Never>, size: Int)] = [:]
    /// The one that owes the result, by the hub's invocation ids.
    private var owing: [String: UInt64] = [:]
    private var last: UInt64 = 0

    var count: Int { tasks.count }
    /// Bytes of the arguments that they hold.
    private(set) var size = 0

    /// Begins one; an earlier one of the same id is not waited for any more.
    ///
    /// - Parameters:
    ///   - id: the hub's, or `nil` if it wants no result.
    ///   - size: bytes of its arguments.
    ///   - make: makes the task, which is to call ``finish(_:_:)`` with the number.
    mutating func begin(_ id: String?, size: Int, _ make: (UInt64) -> Task<Void, Never>) {
        last += 1
        if let id {
            cancel(id)
            owing[id] = last
        }
        tasks[last] = (make(last), size)
        self.size += size
    }

    /// One has ended.
    ///
    /// - Returns: whether the hub waits for its result.
    mutating func finish(_ id: String?, _ number: UInt64) -> Bool {
        if let size = tasks.removeValue(forKey: number)?.size { self.size -= size }
        guard let id, owing[id] == number else { return false }
        owing[id] = nil
        return true
    }

    mutating func cancel(_ id: String) {
        if let number = owing.removeValue(forKey: id) { tasks[number]?.task.cancel() }
    }

    mutating func cancelAll() {
        owing = [:]
        for (task, _) in tasks.values { task.cancel() }
    }
}
