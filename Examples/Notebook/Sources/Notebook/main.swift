import Glibc
import PressureKit

guard CommandLine.arguments.count == 2 else {
    say("usage: Notebook DIRECTORY, in which it keeps its state; commands: new TITLE, open TITLE, write TEXT,")
    say("       show, list, find WORD, warn, quit")
    exit(2)
}
let directory = CommandLine.arguments[1]
let version = "1"

let manager = try PressureManager()
let notebook = try Notebook(in: manager)
let report = try await manager.restoreState(from: directory, version: version)
say(report.isFound ? "restored \(notebook.titles.count) notes" : "a new notebook")

let watching = Task.detached { try await manager.run() }
let autosave = Autosave(manager, to: directory, version: version)

while let line = readLine() {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let text = words.count == 2 ? words[1] : ""
    switch words.first {
    case "new" where !text.isEmpty:
        notebook.begin(text)
        await autosave.change()
    case "open": if !notebook.open(text) { say("no note \"\(text)\"") }
    case "write":
        if try notebook.write(text) { await autosave.change() } else { say("no note is open") }
    case "show":
        if let title = notebook.openTitle {
            say(title)
            try notebook.notes.withValue(for: title) { say($0, terminator: "") }
        }
    case "list":
        for title in notebook.titles { say("\(title): \(notebook.notes.residency(for: title))") }
    case "find": say(try notebook.find(text).joined(separator: ", "))
    case "warn": say(await manager.simulateMemoryWarning(.critical))
    case "quit":
        await autosave.finish()
        watching.cancel()
        exit(0)
    case nil: break
    case .some(let command): say("no command \"\(command)\"")
    }
}
await autosave.finish()
