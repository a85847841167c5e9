import Elemental

/// Reports each failure once: at twenty samples a second the same line would fill the log.
struct FailureReport {
    private static let limit = 1000
    private var said: Set<String> = []

    mutating func add(_ failure: SendFailure) {
        // The service's events report a device that left between two sends.
        guard failure.error.code != .notConnected else { return }
        add("\(failure.device): \(failure.error)")
    }

    mutating func add(_ text: String) {
        guard said.count < Self.limit, said.insert(text).inserted else { return }
        Console.print("not sent: \(text)")
    }
}
