/// The next step of a writer for which little is queued, as most often: one value.
enum LittleStep {
    /// Write so many bytes, which were copied out of the queue.
    case write(byteCount: Int, messageCount: Int)
    /// Nothing is queued.
    case done(PendingWork)
    /// Segments have to be written instead, or it is not the writer's turn.
    case segments
}
