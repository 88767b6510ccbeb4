// Package markdown writes text of unknown authors into GitHub's Markdown. The text becomes code that shows each
// character and that it cannot end. Lockstep's hidden markers are removed from it, and it is cut if it is too
// long.
//
// It does not know what a comment is about: package comment does. Start reading at [Code].
package markdown
