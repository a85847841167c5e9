import NIOCore
import Testing

@testable import SignalR

/// What is queued for the program, and the memory that it retains.
struct UndeliveredSizeTests {
    @Test
    func messagesCountTheirBytes() throws {
        var size = UndeliveredSize(limit: 100)
        let message = ByteBuffer(repeating: 1, count: 40)
        let added = size.add(message, overhead: 10, piece: 1)
        let first = try #require(added)
        let second = size.add(message, overhead: 10, piece: 2)
        let third = size.add(message, overhead: 10, piece: 3)
        #expect(second != nil && third == nil)
        size.remove(first)
        let again = size.add(message, overhead: 10, piece: 4)
        #expect(again != nil)
    }

    /// A call of a few bytes in a frame of a mebibyte keeps the whole frame.
    @Test
    func shortMessagesInLargePiecesCountThePieces() throws {
        var size = UndeliveredSize(limit: 64 << 20)
        var kept = 0
        for piece in 1...1000 {
            let frame = ByteBuffer(repeating: 1, count: 1 << 20)
            let message = try #require(frame.getSlice(at: 0, length: 10))
            guard size.add(message, overhead: 256, piece: UInt64(piece)) != nil else { break }
            // A second one in the same frame keeps nothing more.
            guard size.add(message, overhead: 256, piece: UInt64(piece)) != nil else { break }
            kept = piece
        }
        #expect((100...200).contains(kept), "\(kept) MiB are kept")
    }
}
