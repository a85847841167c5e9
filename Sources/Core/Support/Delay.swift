package import NIOCore
import NIOPosix

/// Waits on an event loop's timer.
///
/// This package does not use `Task.sleep`: on Linux (Swift 6.3.1) two of about a hundred test runs hung. Every sleep of
/// the continuous clock waited for ever, because libdispatch had left its expired timer disarmed. The cause was not
/// found. An event loop has its own timer.
package enum Delay {
    /// Waits for the duration, or until the task is cancelled.
    package static func wait(
        _ duration: Duration, on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
    ) async {
        _ = await Latch().wait(duration, on: eventLoop)
    }
}
