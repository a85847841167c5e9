import Elemental
import Support

/// Runs the commands of a file of elements for a service.
struct ScriptedService: Sendable {
    let service: ElementalService
    let console: Console

    /// Runs the commands until the task is cancelled.
    func run(_ script: ElementScript) async {
        var elements: [Int8: ScriptedElement] = [:]
        for entry in script.entries {
            elements[entry.spec.definition.id] = ScriptedElement(entry.spec.definition, of: service, console)
        }
        let writers = elements.filter { id, _ in
            script.entries.contains { entry in
                entry.spec.definition.id == id && entry.commands.contains { $0.purpose == .write }
            }
        }
        let registration = service.onAnyValue { element, value, _ in writers[element.id]?.set(value) }
        await withDiscardingTaskGroup { group in
            for entry in script.entries {
                guard let element = elements[entry.spec.definition.id] else { continue }
                for command in entry.commands { group.addTask { await element.run(command) } }
            }
        }
        registration.cancel()
    }
}
