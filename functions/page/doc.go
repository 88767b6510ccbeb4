// Package page shows pull requests in a browser: the conversation with its Markdown
// rendered, check runs, the diff, and each project with its whole plan and its state.
//
//	/                                    all pull requests
//	/OWNER/NAME/pull/N                   the conversation, or else the projects
//	/OWNER/NAME/pull/N/checks|files|projects
//	/OWNER/NAME/pull/N/plan/PROJECT      a whole plan, as plain text with colours
//	/events                              one event whenever something has changed
//
// It is given everything by a [Site] and refuses to know how any of it is made, what a
// pipeline is, and that there is a GitHub: `lockstep demo` shows a whole small one,
// with people to speak as and things to do; `lockstep serve` shows its records, to be
// read only.
//
// Nothing of what is shown is trusted. Of the HTML in Markdown only some tags are let
// through, without attributes; everything else is text to html/template; and the content
// security policy allows no script, style or connection but our own. Who may look is
// for [Access] to say. Everything is readable without JavaScript, which only keeps the
// page up to date.
//
// Start at [Site] and [Handler].
package page
