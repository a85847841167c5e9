extension Duration {
    /// Microseconds with one decimal.
    var microsecondsText: String {
        let tenths = nanoseconds / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Whole nanoseconds. Traps for durations over 292 years.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
