/// Waits for `body` to end although the calling task is cancelled, or was before: `body` runs in a task of its own.
package func uncancelled<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
    await Task { await body() }.value
}
