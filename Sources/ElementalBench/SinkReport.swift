/// What a bench service has received of one run, as it tells the sender.
struct SinkReport: Codable, Sendable {
    /// The run's number, which tells its messages and report from those of an earlier one.
    var run: UInt32
    var messages = 0
    var bytes = 0
    var repeated = 0
    var disordered = 0
    /// From the first arrival to the last.
    var seconds = 0.0
}
