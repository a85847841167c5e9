import Testing

/// Measurements by real processes, one after the other: several at once would leave no processor time for other tests.
@Suite(.serialized)
enum BenchTests {}
