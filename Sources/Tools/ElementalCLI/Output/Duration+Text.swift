import Support

extension Duration {
    /// Microseconds with one decimal.
    var microsecondsText: String {
        let tenths = nanoseconds / 100
        return "\(tenths / 10).\(tenths % 10)"
    }
}
