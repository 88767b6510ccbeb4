package markdown

import (
	"regexp"
	"strings"
)

// hiding matches the beginning of text that GitHub's Markdown does not show and that has our name
// in it: an HTML comment, or another hidden construct of HTML.
// Source: https://spec.commonmark.org/0.31.2/#html-blocks, kinds 2 to 5
var hiding = regexp.MustCompile(`(?i)<[!?]\W*lockstep`)

// Unmarked returns text without markers of ours, to be put below a marker: plans, outputs and
// messages, whose authors are unknown. The "<" of a marker is shown by its number.
func Unmarked(text string) string { return hiding.ReplaceAllStringFunc(text, opened.Replace) }

// opened makes the beginning of hidden text visible; one name may follow several of them.
var opened = strings.NewReplacer("<!", `\u003c!`, "<?", `\u003c?`)
