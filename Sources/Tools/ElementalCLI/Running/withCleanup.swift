/// Runs `body` and then `cleanup`, whether or not `body` throws. A `defer` cannot wait for asynchronous work.
func withCleanup<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result, cleanup: () async -> Void
) async rethrows -> Result {
    do {
        let result = try await body()
        await cleanup()
        return result
    } catch {
        await cleanup()
        throw error
    }
}
