import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The first message in each direction: JSON, whatever the hub protocol.
enum HubHandshake {
    /// The largest answer accepted; real ones have a few bytes.
    private static var maximum: Int { 64 * 1024 }

    /// The client's request.
    ///
    /// - Parameter isStateful: whether the connection can be resumed. ASP.NET Core 10 then requires version 2, unlike
    ///   its specification: with version 1, resuming is answered with 404.
    static func request(_ name: String, isStateful: Bool) -> ByteBuffer {
        var buffer = ByteBuffer(string: "{\"protocol\":\"\(name)\",\"version\":\(isStateful ? 2 : 1)}")
        buffer.writeInteger(JSONCodec.recordSeparator)
        return buffer
    }

    private struct Response: Decodable {
        let error: String?
    }

    /// Consumes the server's response, and leaves the messages that follow it.
    ///
    /// - Returns: whether the response is complete.
    static func readResponse(_ frames: inout FrameReader) throws(SignalRError) -> Bool {
        guard let record = try frames.nextText(maximum) else { return false }
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
