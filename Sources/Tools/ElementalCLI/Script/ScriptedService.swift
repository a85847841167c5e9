import Elemental
import Support

/// Runs the commands of a file of elements for a service.
struct ScriptedService: Sendable {
    let service: ElementalService
    let values: SetValues
    let console: Console

    /// Runs the commands until the task is cancelled.
    func run(_ script: ElementScript) async {
        await withDiscardingTaskGroup { group in
            for entry in script.entries {
                let element = ScriptedElement(entry.spec.definition, of: service, setTo: values, console)
                for command in entry.commands { group.addTask { await element.run(command) } }
            }
        }
    }
}
