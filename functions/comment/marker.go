package comment

import "strings"

// marking is the beginning of the hidden markers in all comments of Lockstep.
const marking = "<!-- lockstep:"

// Ours reports whether a comment is Lockstep's: it contains one of Lockstep's hidden markers. Every comment of
// Lockstep contains one. In quotations of other people's texts, Lockstep makes markers visible.
func Ours(body string) bool { return strings.Contains(body, marking) }
