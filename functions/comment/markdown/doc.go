// Package markdown writes text of unknown authors into GitHub's Markdown: as code that shows each
// character and that the text cannot end, without markers of ours, and cut where it is too long.
//
// It refuses to know what a comment is about: that is package comment. Start at [Code].
package markdown
