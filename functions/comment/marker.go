package comment

import "strings"

// marking is the beginning of the hidden markers in all comments of Lockstep.
const marking = "<!-- lockstep:"

// Ours reports whether a text has one of Lockstep's hidden markers. Every comment of Lockstep has one. If
// Lockstep quotes the texts of other people, it removes markers from them.
func Ours(body string) bool { return strings.Contains(body, marking) }
