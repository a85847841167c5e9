/// What the reconnection policies of the libraries of this package refine, each with the attempts that it makes.
///
/// The names of the delays that need not know more of an attempt than its number are members of it, so that they stand for
/// policies of every library: `.standard`, `.exponential()` and `.forever()`.
public protocol RetryPolicy: Sendable {}
