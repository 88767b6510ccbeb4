package cli

import (
	"strings"
	"unicode"
)

// Plain returns a text of somebody else for one line of a terminal: each control character becomes a space.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
