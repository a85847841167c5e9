import Testing

/// Measurements by real processes, one after the other: several at once would leave the tests beside them no processor.
@Suite(.serialized)
enum BenchTests {}
