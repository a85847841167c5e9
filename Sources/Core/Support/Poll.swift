/// Waits for events on one file descriptor.
package enum Poll {
    /// - Parameters:
    ///   - events: `POLLIN`, `POLLOUT` or both.
    ///   - timeout: how long to wait, in milliseconds: 0 does not wait, a negative number waits without a limit. After
    ///     a signal the wait begins again.
    /// - Returns: what has happened: some of `events`, `POLLHUP`, `POLLERR`, `POLLNVAL`; 0 for nothing within that time,
    ///   and if the call fails: then nothing is known to have happened.
    package static func one(_ descriptor: CInt, for events: CInt, timeout: CInt) -> CInt {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while poll(&entry, 1, timeout) < 0, errno == EINTR {}
        return CInt(entry.revents)
    }
}
