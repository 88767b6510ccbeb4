// Package page shows pull requests in a browser: the conversation with its Markdown rendered, check
// runs, the diff, and each project with its whole plan and its state.
//
//	/                                    all pull requests
//	/OWNER/NAME/pull/N                   the conversation, or else the projects
//	/OWNER/NAME/pull/N/checks|files|projects
//	/OWNER/NAME/pull/N/plan/PROJECT      a whole plan, as plain text with colours
//	/events                              one event after each change
//	/docs, /docs/FOLDER/TOPIC            the documentation, which anybody may read
//
// A [Site] provides all content. The package refuses to know its origin, pipelines and GitHub:
// `lockstep demo` shows a small GitHub of its own, with people to speak as and actions to take;
// `lockstep serve` shows its records, which can only be read.
//
// No content is trusted. Of the HTML in Markdown only some tags are let through, without
// attributes; everything else is text to html/template; and the content security policy allows no
// script, style or connection but our own. [Access] decides who may see the pages. Everything is
// readable without JavaScript, which only keeps the page up to date.
//
// A [Manual] provides the documentation, as Markdown of our own.
//
// Start at [Site] and [Handler].
package page
