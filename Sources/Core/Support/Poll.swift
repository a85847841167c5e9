/// Waits for events on one file descriptor.
package enum Poll {
    /// Waits for events. After a signal the wait begins again with the whole timeout.
    ///
    /// - Parameters:
    ///   - events: `POLLIN`, `POLLOUT` or both.
    ///   - timeout: in milliseconds; 0 does not wait, and a negative number waits without a limit.
    /// - Returns: what has happened: some of `events`, `POLLHUP`, `POLLERR`, `POLLNVAL`; 0 if nothing has happened in
    ///   time, or the call failed.
    package static func one(_ descriptor: CInt, for events: CInt, timeout: CInt) -> CInt {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while poll(&entry, 1, timeout) < 0, errno == EINTR {}
        return CInt(entry.revents)
    }
}
