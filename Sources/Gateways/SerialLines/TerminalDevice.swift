import Support

/// The system's serial devices and pseudo-terminals.
package enum TerminalDevice {
    package struct Failure: Error {
        let number: Int32

        var isAbsence: Bool { [ENOENT, ENODEV, ENXIO].contains(number) }

        func text(_ path: String) -> String {
            switch number {
            case _ where isAbsence: "\(path): no such device; is the adapter plugged in?"
            case EACCES, EPERM:
                "\(path): permission denied; add yourself to its group (on Debian: sudo adduser USER dialout)"
            case EBUSY: "\(path): in use by another program"
            case ENOTTY: "\(path) is not a serial device"
            default: "\(path): \(String(systemError: number))"
            }
        }
    }

    /// The possible speeds of a line, in bits a second.
    package static var bauds: [Int] { speeds.keys.sorted() }

    private static let speeds: [Int: speed_t] = {
        var speeds = [
            50: B50, 75: B75, 110: B110, 150: B150, 300: B300, 600: B600, 1200: B1200, 1800: B1800, 2400: B2400,
            4800: B4800, 9600: B9600, 19200: B19200, 38400: B38400, 57600: B57600, 115_200: B115200, 230_400: B230400,
        ]
        #if !canImport(Darwin)
        let others = [
            460_800: B460800, 500_000: B500000, 921_600: B921600, 1_000_000: B1000000, 1_500_000: B1500000,
            2_000_000: B2000000, 3_000_000: B3000000,
        ]
        speeds.merge(others) { $1 }
        #endif
        return speeds.mapValues { speed_t($0) }
    }()

    /// Opens a serial device exclusively for this process: raw, 8 data bits, no parity, 1 stop bit.
    ///
    /// - Parameters:
    ///   - baud: one of ``bauds``.
    ///   - usesFlowControl: whether RTS and CTS pause the line.
    static func openDevice(_ path: String, baud: Int, usesFlowControl: Bool = false) throws(Failure) -> CInt {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        do throws(Failure) {
            guard isatty(descriptor) == 1 else { throw Failure(number: ENOTTY) }
            _ = ioctl(descriptor, UInt(TIOCEXCL))
            try makeRaw(descriptor, speed: speeds[baud], usesFlowControl: usesFlowControl)
            _ = tcflush(descriptor, TCIOFLUSH)
            return descriptor
        } catch {
            _ = close(descriptor)
            throw error
        }
    }

    static func check(_ path: String, baud: Int) throws(Failure) {
        let descriptor = try openDevice(path, baud: baud)
        // The device would stay exclusive while another program has it open too.
        _ = ioctl(descriptor, UInt(TIOCNXCL))
        _ = close(descriptor)
    }

    /// Creates a pseudo-terminal in raw mode whose other end is not open yet, and returns the other end's path.
    package static func makePseudoTerminal() throws(Failure) -> (descriptor: CInt, path: String) {
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        do throws(Failure) {
            let path = try unlock(descriptor)
            // Opened and closed once, so that the system reports from now on whether the other end is open; the
            // settings stay while this end is open.
            try check(path, baud: 1200)
            return (descriptor, path)
        } catch {
            _ = close(descriptor)
            throw error
        }
    }

    /// Unlocks the other end, and returns its path.
    private static func unlock(_ descriptor: CInt) throws(Failure) -> String {
        #if canImport(Darwin)
        guard grantpt(descriptor) == 0, unlockpt(descriptor) == 0, let name = ptsname(descriptor) else {
            throw Failure(number: errno)
        }
        return String(cString: name)
        #else
        // As glibc's unlockpt and ptsname do, which Swift does not import: TIOCSPTLCK and TIOCGPTN of Linux's
        // asm-generic/ioctls.h, a write and a read of an int.
        var isLocked: CInt = 0
        var number: CInt = 0
        guard ioctl(descriptor, 0x4004_5431, &isLocked) == 0, ioctl(descriptor, 0x8004_5430, &number) == 0 else {
            throw Failure(number: errno)
        }
        return "/dev/pts/\(number)"
        #endif
    }

    static func isOpenAtOtherEnd(_ descriptor: CInt) -> Bool {
        Poll.one(descriptor, for: POLLIN, timeout: 0) & POLLHUP == 0
    }

    private static func makeRaw(_ descriptor: CInt, speed: speed_t?, usesFlowControl: Bool) throws(Failure) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { throw Failure(number: errno) }
        cfmakeraw(&settings)
        // `cfmakeraw` leaves some flags on that an earlier program may have set: IXOFF, IXANY, INPCK, IGNPAR.
        settings.c_iflag = 0
        settings.c_cflag &= ~tcflag_t(CSTOPB)
        #if canImport(Darwin)
        let flowControl = tcflag_t(CCTS_OFLOW | CRTS_IFLOW)
        #else
        let flowControl = tcflag_t(CRTSCTS)
        #endif
        if usesFlowControl { settings.c_cflag |= flowControl } else { settings.c_cflag &= ~flowControl }
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        guard let speed, cfsetspeed(&settings, speed) == 0, tcsetattr(descriptor, TCSANOW, &settings) == 0 else {
            throw Failure(number: errno)
        }
    }
}
