import Foundation

/// Prints a line, with names as they may come from the network, and flushes it, also into a pipe.
public func say(_ line: String) {
    print(line.printable)
    fflush(nil)
}
