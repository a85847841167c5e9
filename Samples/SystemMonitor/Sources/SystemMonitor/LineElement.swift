import Dispatch
import Elemental
import Foundation
import Sensors

/// A line of a GPIO chip and its element. A chip may be on a slow bus, so no call of the kernel is made on an event loop.
final class LineElement: Sendable {
    let element: Element<Bool>
    private let line: GPIOLine
    private let queue: DispatchQueue

    init(_ element: Element<Bool>, _ line: GPIOLine) {
        self.element = element
        self.line = line
        queue = DispatchQueue(label: element.name)
    }

    /// Sends what an input does, and sets an output to what clients send.
    func serve(by service: ElementalService) throws {
        _ = try service.send(line.level(), to: element)
        guard element.access.contains(.write) else {
            return Thread.detachNewThread { [self] in
                do {
                    while true { _ = try service.send(line.nextLevel(), to: element) }
                } catch {
                    Console.print("\(element.name) is not read any more: \(error)")
                }
            }
        }
        service.relay(element) { [line, queue] level, _ in
            try await withCheckedThrowingContinuation { set in
                queue.async { set.resume(with: Result { try line.set(level) }) }
            }
            return level
        }
    }
}
