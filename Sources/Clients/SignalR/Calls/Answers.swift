/// The running tasks of handlers that return a result to the hub. Each counts until it ends, cancelled or not.
struct Answers {
    private var tasks: [UInt64: (task: Task<Void, Never>, size: Int)] = [:]
    /// The task whose result the hub awaits, by invocation id.
    private var owing: [String: UInt64] = [:]
    private var last: UInt64 = 0

    var count: Int { tasks.count }
    /// Bytes of arguments that the tasks hold.
    private(set) var size = 0

    /// Starts a task, which must call ``finish(_:_:)`` with its number. An earlier task with the same id is cancelled.
    mutating func begin(_ id: String?, size: Int, _ make: (UInt64) -> Task<Void, Never>) {
        last += 1
        if let id {
            cancel(id)
            owing[id] = last
        }
        tasks[last] = (make(last), size)
        self.size += size
    }

    /// - Returns: whether the hub awaits its result.
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
