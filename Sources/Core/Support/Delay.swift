package import NIOCore
import NIOPosix

/// Waits on an event loop's timer.
///
/// `Task.sleep` is not used in this package: on Linux (Swift 6.3.1) two of some hundred test runs hung with every sleep of
/// the continuous clock waiting for ever, its timer expired and left disarmed by libdispatch. The cause was not found;
/// an event loop has a timer of its own.
package enum Delay {
    /// Waits for the duration, or until the task is cancelled.
    package static func wait(
        _ duration: Duration, on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
    ) async {
        _ = await Latch().wait(duration, on: eventLoop)
    }
}
