import Glibc

extension RawSocket {
    /// Shuts down this process's socket that listens at a TCP port, as the system may: SwiftNIO closes it then.
    public static func shutDownListener(at port: Int) {
        for descriptor in Int32(0)..<4096 where isListening(descriptor) {
            var (name, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            withUnsafeMutableBytes(of: &name) { bytes in
                _ = getsockname(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
            }
            if Int(in_port_t(bigEndian: name.sin_port)) == port { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private static func isListening(_ descriptor: Int32) -> Bool {
        var (value, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value == 1
    }
}
