extension Duration {
    /// The duration in whole nanoseconds. Durations beyond 292 years, which files and options can contain, are clamped.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if isTooLong { return seconds < 0 ? .min : .max }
        return product.clampedSum(attoseconds / 1_000_000_000)
    }
}
