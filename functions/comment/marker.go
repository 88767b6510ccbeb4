package comment

import (
	"regexp"
	"strings"
)

// hiding is how text begins that GitHub's Markdown does not show, with our name in it: a
// comment of HTML, and what else HTML hides.
// Source: https://spec.commonmark.org/0.31.2/#html-blocks, kinds 2 to 5
var hiding = regexp.MustCompile(`(?i)<[!?]\W*lockstep`)

// Unmarked returns text that holds no marker of ours, for what stands below one: plans,
// outputs and messages, which anybody may have written. Where there would be one, its "<"
// is shown by its number.
func Unmarked(text string) string { return hiding.ReplaceAllStringFunc(text, opened.Replace) }

// opened shows what opens a hidden text; there may be several in front of one name.
var opened = strings.NewReplacer("<!", `\u003c!`, "<?", `\u003c?`)
