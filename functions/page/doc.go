// Package page shows pull requests in a browser: the conversation with its Markdown rendered, check runs, the
// diff, and each project with its whole plan and its state.
//
//	/                                    all pull requests
//	/OWNER/NAME/pull/N                   the conversation, or else the projects
//	/OWNER/NAME/pull/N/checks|files|projects
//	/OWNER/NAME/pull/N/plan/PROJECT      a whole plan, as plain text with colours
//	/events                              one event after each change
//	/docs, /docs/FOLDER/TOPIC            the documentation, which anybody may read
//
// A [Site] provides all content. The package does not know where the content comes from. `lockstep demo` shows
// a fake GitHub, on which the user can act as several people. `lockstep serve` shows its records, read-only.
//
// No content is trusted. Only some HTML tags in Markdown are rendered, without attributes; html/template
// escapes everything else. The content security policy allows only scripts, styles and connections of this
// server. [Access] decides who may see the pages. Everything is readable without JavaScript, which only keeps
// the page up to date.
//
// A [Manual] provides the documentation, as trusted Markdown.
//
// Start at [Site] and [Handler].
package page
