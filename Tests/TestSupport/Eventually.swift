/// Polls a condition until it holds; throws the place of the call if it does not hold in time.
public func eventually(
    _ what: @autoclosure () -> String = "the condition", within timeout: Duration = Patience.wait,
    every interval: Duration = .milliseconds(2), fileID: String = #fileID, line: Int = #line,
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let deadline = SuspendingClock.now + timeout
    while try await !condition() {
        guard SuspendingClock.now < deadline else {
            throw TestSupportError("\(fileID):\(line): did not come about within \(timeout): \(what())")
        }
        // The suspending clock: sleeps on the continuous clock were seen to hang (see Delay in the library).
        try await Task.sleep(for: interval, clock: .suspending)
    }
}
