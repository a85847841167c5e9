/// Delays between attempts that follow from nothing but the number of the attempt: a policy of every library.
public protocol NumberedDelays: RetryPolicy, Hashable {
    /// How long to wait before an attempt, or `nil` to give up.
    ///
    /// - Parameter number: the number of the attempt since the loss, starting with 1.
    func delay(before number: Int) -> Duration?
}
