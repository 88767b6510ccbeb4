// Package render writes plans, states, diagnostics and events as text for a terminal, as
// Markdown for a pull request, and as the stream of messages that a run prints as JSON.
// The formats for tools are in package formats.
//
// It refuses to know files, terminals, providers and GitHub: it gets values, and returns bytes or writes to
// an [io.Writer]. It makes no decisions, and shows no sensitive value.
//
// Start at [Printer] for a terminal, [PlanMarkdown] for a pull request and [Message]
// for the stream.
package render
