package comment

import "strings"

// marking begins the markers of all comments of ours.
const marking = "<!-- lockstep:"

// Ours reports whether a text has a marker of ours: every comment that we write has one, and text of others that is quoted
// there has none.
func Ours(body string) bool { return strings.Contains(body, marking) }
