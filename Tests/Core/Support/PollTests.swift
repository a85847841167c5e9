import Support
import Testing

struct PollTests {
    @Test
    func aPipeHasNothingThenBytesThenItsEnd() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        #expect(Poll.one(ends[0], for: POLLIN, timeout: 0) == 0)
        #expect(Poll.one(ends[1], for: POLLOUT, timeout: -1) == POLLOUT)
        #expect(write(ends[1], [1], 1) == 1)
        #expect(Poll.one(ends[0], for: POLLIN, timeout: -1) == POLLIN)
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 1)
        close(ends[1])
        #expect(Poll.one(ends[0], for: POLLIN, timeout: -1) == POLLHUP)
    }

    @Test
    func aDescriptorThatIsNotOpenIsNotWaitedFor() {
        #expect(Poll.one(.max, for: POLLIN, timeout: -1) == POLLNVAL)
    }
}
