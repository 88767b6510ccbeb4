package runs

import (
	"fmt"
	"strings"
)

// Branches returns the beginning of the names of all branches that Lockstep makes for a target and a purpose, such as "query". The
// name of the project in it is for people. The digits tell projects with similar names apart.
func Branches(purpose, target string) string {
	readable := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			return c
		}
		return '-'
	}, ProjectOf(target))
	readable = strings.Trim(readable[:min(len(readable), 40)], "-")
	return fmt.Sprintf("lockstep/%s-%s-%s-", purpose, readable, HashOf([]byte(target))[:8])
}

// BranchOf returns the end of a branch's name: 12 digits that name the command on a pull request or an issue that asked for it.
func BranchOf(number int, answer string) string {
	return HashOf(fmt.Appendf(nil, "%d %s", number, answer))[:12]
}
