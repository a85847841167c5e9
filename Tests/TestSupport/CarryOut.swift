/// Carries out the body, and then what ends its surroundings, even if the body throws.
public func carryOut<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result,
    finally end: () async throws -> Void
) async throws -> Result {
    let result: Swift.Result<Result, any Error>
    do {
        result = .success(try await body())
    } catch {
        result = .failure(error)
    }
    try await end()
    return try result.get()
}
