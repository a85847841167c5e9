extension Duration {
    /// Whole nanoseconds; of durations over 292 years, which a file or an option may have, the most that there are.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if isTooLong { return seconds < 0 ? .min : .max }
        return product.clampedSum(attoseconds / 1_000_000_000)
    }
}
