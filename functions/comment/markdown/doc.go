// Package markdown writes text of unknown authors into GitHub's Markdown. The text becomes code, which shows
// each character, and which nothing in the text can end. Lockstep's hidden markers in the text become visible.
// A text that is too long is cut.
//
// The package does not know what a comment says: that is the task of package comment. Start reading at [Code].
package markdown
