/// Keeps a connection's event loop from sleeping where that makes values faster. On the event loop.
///
/// A connection uses nothing else of the folder Latency.
protocol Wakefulness: AnyObject {
    func start()
    /// A batch of reads begins.
    func beginBatch()
    /// Values are written outside a batch.
    func noteSend()
    func stop()
}
