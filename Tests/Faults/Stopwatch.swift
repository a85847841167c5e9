import TestSupport

/// Prints how long something took, on a line that begins with "fault:". No test depends on the figures.
struct Stopwatch {
    private let fault: String
    private var start = SuspendingClock.now

    init(_ fault: String) { self.fault = fault }

    mutating func restart() { start = .now }

    func note(_ what: String) {
        let milliseconds = Int((SuspendingClock.now - start) / .milliseconds(1))
        print("fault: \(fault): \(what) after \(milliseconds) ms")
    }
}
