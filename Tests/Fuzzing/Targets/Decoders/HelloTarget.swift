import ElementalWire

/// A hello that can be read is the same when it is written again, but for what a later version added.
enum HelloTarget: FuzzTarget {
    static let name = "hello"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        [Hello(features: [.ping, .wantsCatalogue], udpPort: 4711).wireBytes] + frames.streams
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        guard let hello = Hello(wireBytes: input) else { return }
        check(hello.wireBytes.elementsEqual(input.prefix(7)), "a hello that changes")
    }
}
