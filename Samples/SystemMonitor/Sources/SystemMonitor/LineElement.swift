import Dispatch
import Elemental
import Foundation
import Sensors
import Synchronization

/// A line of a GPIO chip and its element. A chip may be on a slow bus, so no call of the kernel is made on an event loop.
final class LineElement: Sendable {
    let element: Element<Bool>
    private let line: GPIOLine
    private let wanted = Mutex<Bool?>(nil)
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
        service.onValue(of: element) { [self] level, device in
            // The newest counts, however many a client sends.
            let isWaiting = wanted.withLock { wanted in
                defer { wanted = level }
                return wanted != nil
            }
            guard !isWaiting else { return }
            queue.async { [self] in
                guard let level = wanted.withLock({ $0.take() }) else { return }
                do {
                    try line.set(level)
                    _ = try service.send(level, to: element)
                } catch {
                    service.refuse(element, from: device, ValueRefusal("\(error)"))
                }
            }
        }
    }
}
