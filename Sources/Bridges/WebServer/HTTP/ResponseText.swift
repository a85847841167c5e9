internal import NIOCore
import NIOHTTP1
internal import Support

enum ResponseText {
    /// Headers of every answer. With them no other page can embed or read an answer, and no browser guesses its type.
    private static let safety = """
        Content-Security-Policy: default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; \
        form-action 'none'\r
        X-Content-Type-Options: nosniff\r
        Referrer-Policy: no-referrer\r
        Cross-Origin-Opener-Policy: same-origin\r
        Cross-Origin-Resource-Policy: same-origin\r

        """

    /// A status line and headers, up to the empty line.
    static func head(_ response: WebResponse, date: String, connection: String?) -> ByteBuffer {
        var text = statusLine(response.status)
        text += "Date: \(date)\r\n"
        if response.status != 304 {
            text += "Content-Type: \(response.contentType)\r\nContent-Length: \(response.body.readableBytes)\r\n"
        }
        text += safety
        if !response.headers.contains(where: { $0.name == "Cache-Control" }) { text += "Cache-Control: no-store\r\n" }
        for (name, value) in response.headers { text += "\(name): \(value)\r\n" }
        if let connection { text += "Connection: \(connection)\r\n" }
        return ByteBuffer(string: text + "\r\n")
    }

    /// Returns the answer to a request for a WebSocket.
    static func switching(_ headers: HTTPHeaders, date: String) -> ByteBuffer {
        var text = statusLine(101) + "Date: \(date)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return ByteBuffer(string: text + "\r\n")
    }

    private static func statusLine(_ code: Int) -> String {
        let status = HTTPResponseStatus(statusCode: code)
        return "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
    }

    /// Formats a time as in RFC 9110, 5.6.7.
    static func date(_ time: time_t) -> String {
        var (time, parts) = (time, tm())
        guard gmtime_r(&time, &parts) != nil else { return "Thu, 01 Jan 1970 00:00:00 GMT" }
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return
            "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900) "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }
}
