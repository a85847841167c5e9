/// Waits for `body` to end, even if the calling task is or becomes cancelled: `body` runs in a separate task.
package func uncancelled<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
    await Task { await body() }.value
}
