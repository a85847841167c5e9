import TestSupport
import Testing

/// Expects a bound of resident memory, with `Tests/run --all` only: how much a process keeps of what it has freed is the
/// allocator's decision, and sanitizers keep memory of their own.
func expectMemory(
    _ kibibytes: Int, below limit: Int, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    guard Depth.isAll, Sanitizer.current == nil else { return }
    #expect(kibibytes < limit, "\(kibibytes) KiB of memory \(what)", sourceLocation: sourceLocation)
}
