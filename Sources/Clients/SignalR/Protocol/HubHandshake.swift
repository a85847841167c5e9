import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The first words of both ends: JSON whatever the protocol.
enum HubHandshake {
    /// A server's answer is some bytes; a larger one is none.
    private static var maximum: Int { 64 * 1024 }

    /// The client's words.
    ///
    /// - Parameter isStateful: whether the connection may be taken up again. ASP.NET Core 10 wants version 2 then,
    ///   whatever its specification says: with 1, taking up again is answered with 404.
    static func request(_ name: String, isStateful: Bool) -> ByteBuffer {
        var buffer = ByteBuffer(string: "{\"protocol\":\"\(name)\",\"version\":\(isStateful ? 2 : 1)}")
        buffer.writeInteger(JSONCodec.recordSeparator)
        return buffer
    }

    private struct Response: Decodable {
        let error: String?
    }

    /// Reads the server's words off what came, and leaves the messages behind them.
    ///
    /// - Returns: whether they are complete.
    static func readResponse(_ bytes: inout ByteBuffer) throws(SignalRError) -> Bool {
        guard let end = bytes.readableBytesView.firstIndex(of: JSONCodec.recordSeparator) else {
            guard bytes.readableBytes <= maximum else { throw .violation("no end of the handshake") }
            return false
        }
        guard let record = bytes.readSlice(length: end - bytes.readerIndex) else { return false }
        bytes.moveReaderIndex(forwardBy: 1)
        let response: Response
        do {
            response = try JSONDecoder().decode(Response.self, from: record)
        } catch {
            throw .violation("a handshake of \(record.excerpt)", cause: error)
        }
        if let error = response.error {
            throw SignalRError(.handshakeFailed, "the hub refused the handshake: \(error)")
        }
        return true
    }
}
