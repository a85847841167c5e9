import Support

/// The system's serial devices and pseudo-terminals.
package enum TerminalDevice {
    package struct Failure: Error {
        let number: Int32

        /// Whether there is no such device at present.
        var isAbsence: Bool { [ENOENT, ENODEV, ENXIO].contains(number) }

        /// The reason in words, and what to do.
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

    /// What a line's speed may be, in bits a second.
    package static var bauds: [Int] { speeds.keys.sorted() }

    private static let speeds: [Int: speed_t] = {
        var speeds: [Int: speed_t] = [
            50: speed_t(B50), 75: speed_t(B75), 110: speed_t(B110), 150: speed_t(B150), 300: speed_t(B300),
            600: speed_t(B600), 1200: speed_t(B1200), 1800: speed_t(B1800), 2400: speed_t(B2400), 4800: speed_t(B4800),
            9600: speed_t(B9600), 19200: speed_t(B19200), 38400: speed_t(B38400), 57600: speed_t(B57600),
            115_200: speed_t(B115200), 230_400: speed_t(B230400),
        ]
        #if !canImport(Darwin)
        speeds[460_800] = speed_t(B460800)
        speeds[500_000] = speed_t(B500000)
        speeds[921_600] = speed_t(B921600)
        speeds[1_000_000] = speed_t(B1000000)
        speeds[1_500_000] = speed_t(B1500000)
        speeds[2_000_000] = speed_t(B2000000)
        speeds[3_000_000] = speed_t(B3000000)
        #endif
        return speeds
    }()

    /// Opens a serial device for this process alone: raw, 8 data bits, no parity, 1 stop bit, no flow control.
    ///
    /// - Parameter baud: one of ``bauds``.
    static func openDevice(_ path: String, baud: Int) throws(Failure) -> CInt {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        do throws(Failure) {
            guard isatty(descriptor) == 1 else { throw Failure(number: ENOTTY) }
            _ = ioctl(descriptor, UInt(TIOCEXCL))
            try makeRaw(descriptor, speed: speeds[baud])
            _ = tcflush(descriptor, TCIOFLUSH)
            return descriptor
        } catch {
            _ = close(descriptor)
            throw error
        }
    }

    static func check(_ path: String, baud: Int) throws(Failure) {
        let descriptor = try openDevice(path, baud: baud)
        // It would stay exclusive while another program has it open too.
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
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) >= 0 && entry.revents & Int16(POLLHUP) == 0
    }

    private static func makeRaw(_ descriptor: CInt, speed: speed_t?) throws(Failure) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { throw Failure(number: errno) }
        cfmakeraw(&settings)
        // It leaves some on that an earlier user may have set: IXOFF, IXANY, INPCK, IGNPAR.
        settings.c_iflag = 0
        settings.c_cflag &= ~tcflag_t(CSTOPB)
        #if canImport(Darwin)
        settings.c_cflag &= ~tcflag_t(CCTS_OFLOW | CRTS_IFLOW)
        #else
        settings.c_cflag &= ~tcflag_t(CRTSCTS)
        #endif
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        guard let speed, cfsetspeed(&settings, speed) == 0, tcsetattr(descriptor, TCSANOW, &settings) == 0 else {
            throw Failure(number: errno)
        }
    }
}
