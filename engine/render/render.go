// Package render writes plans, states, diagnostics and events as text for a terminal, as
// Markdown for a pull request, and as the stream of messages that a run prints as JSON.
// The formats for tools are in package formats.
//
// It refuses to know files, terminals, providers and GitHub: everything comes in
// as a value and goes out as bytes or to an [io.Writer]. It decides nothing, and it
// shows no sensitive value.
//
// Start at [Printer] for a terminal, [PlanMarkdown] for a pull request and [Message]
// for the stream.
package render
