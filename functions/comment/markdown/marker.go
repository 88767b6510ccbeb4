package markdown

import (
	"regexp"
	"strings"
)

// hiding matches the beginning of a hidden text that names lockstep. A hidden text is an HTML comment, or
// another HTML construct that GitHub does not show.
// Source: https://spec.commonmark.org/0.31.2/#html-blocks, kinds 2 to 5
var hiding = regexp.MustCompile(`(?i)<[!?]\W*lockstep`)

// Unmarked returns a text in which Lockstep's hidden markers are visible: their "<" is replaced by its number.
// Use it for texts of unknown authors, such as plans, outputs and messages, that are part of a comment with
// such a marker.
func Unmarked(text string) string { return hiding.ReplaceAllStringFunc(text, opened.Replace) }

// opened replaces the beginnings of hidden texts with visible text. Several such beginnings may precede the
// word lockstep.
var opened = strings.NewReplacer("<!", `\u003c!`, "<?", `\u003c?`)
