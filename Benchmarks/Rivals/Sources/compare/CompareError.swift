/// Why a measurement failed.
struct CompareError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
