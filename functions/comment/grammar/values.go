package grammar

import (
	"strings"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// namePattern matches the names of projects, directories and workspaces. A name consists of parts with "/"
// between them. A part has letters, digits, "_", "." and "-", and begins with a letter, a digit or "_". So no
// part is "..", or looks like an option. The name "." is the repository's root directory.
var namePattern = lazyregexp.New(`^(\.|[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*)$`)

// patternPattern matches patterns for names of projects, directories and workspaces, such as "live/**". In a
// pattern, "*" stands for a part of a name.
var patternPattern = lazyregexp.New(`^(\.|[A-Za-z0-9_*][A-Za-z0-9_.*-]*(/[A-Za-z0-9_*][A-Za-z0-9_.*-]*)*)$`)

// Limits for the values of options:
//   - maxName is the maximum length of a name, in bytes.
//   - maxStars is the maximum number of "*" in a pattern.
//   - maxValue is the maximum length of other values, in bytes.
const (
	maxName  = 200
	maxStars = 10
	maxValue = 1000
)

// ValidName reports whether s may be the name of a project, directory or workspace in a command.
func ValidName(s string) bool { return len(s) <= maxName && namePattern.MatchString(s) }

func isPattern(s string) Kind {
	if len(s) > maxName || strings.Count(s, "*") > maxStars || !patternPattern.MatchString(s) {
		return BadName
	}
	return ""
}

// hashPattern matches words that a person may have meant as the hash of a plan, or as its beginning.
var hashPattern = lazyregexp.New(`^[0-9A-Fa-f]{1,64}$`)

// commitPattern matches words that a person may have meant as the ID of a commit, a SHA-1 or SHA-256 hash.
var commitPattern = lazyregexp.New(`^[0-9A-Fa-f]{7,64}$`)

// shortestPlan is the minimum number of characters of a plan's hash in a command.
const shortestPlan = 7

// Patterns of addresses. An address consists of steps. A step is a name, or a name with a number or a text in
// brackets. A text must not contain quotes, backslashes or templates, so that the address stays the same in any
// quotes. Whether an address exists is checked later, by the engine.
const (
	nameStep = `[A-Za-z_][A-Za-z0-9_-]*`
	keyStep  = `(\[([0-9]{1,10}|"[^"\\$%]*")\])?`
)

var (
	addressPattern  = lazyregexp.New(`^` + nameStep + keyStep + `(\.` + nameStep + keyStep + `)+$`)
	actionPattern   = lazyregexp.New(`^(module\.` + nameStep + keyStep + `\.)*action\.` + nameStep + `\.` + nameStep + keyStep + `$`)
	outputPattern   = lazyregexp.New(`^` + nameStep + `$`)
	resourcePattern = lazyregexp.New(`^(module\.` + nameStep + keyStep + `\.)*(resource\.)?` + nameStep + `\.` + nameStep + keyStep + `$`)
)

// unescaped returns an address with plain quotes around its keys. People copy a["x"] from a shell as a[\"x\"],
// and phones write a[“x”].
func unescaped(s string) string { return keyQuotes.ReplaceAllString(s, `["$1$2"]`) }

var keyQuotes = lazyregexp.New(`\[(?:\\"([^"\\]*)\\"|[“”„]([^“”„"]*)[“”])\]`)

func isAddress(s string) Kind {
	if len(s) > maxValue || !addressPattern.MatchString(s) {
		return BadAddress
	}
	return ""
}

// isResource checks that a value is the address of a managed resource, or of an instance of one.
func isResource(s string) Kind {
	last := s[strings.LastIndex("."+s, ".module.")+1:]
	if len(s) > maxValue || !resourcePattern.MatchString(s) || strings.HasPrefix(s, "data.") || strings.HasPrefix(s, "module.") && strings.Count(last, ".") < 2 {
		return BadAddress
	}
	return ""
}

// isAction checks that a value is the address of an action, or of an instance of one.
func isAction(s string) Kind {
	if len(s) > maxValue || !actionPattern.MatchString(s) {
		return BadAction
	}
	return ""
}

// isOutput checks that a value may be the name of an output.
func isOutput(s string) Kind {
	if len(s) > maxName || !outputPattern.MatchString(s) {
		return BadName
	}
	return ""
}

// Pair splits the value of -import or -move, such as `a["x y"] i-1`, after its first address, which may contain
// spaces. ok is false if there is no address, or nothing after the address.
func Pair(value string) (addr, rest string, ok bool) {
	for i, r := range value {
		if r == ' ' && isAddress(value[:i]) == "" {
			rest = strings.TrimSpace(value[i:])
			return value[:i], rest, rest != ""
		}
	}
	return "", "", false
}

// isImport checks that a value is the address of a managed resource's instance, followed by the object's ID.
func isImport(s string) Kind {
	addr, id, ok := Pair(s)
	switch {
	case !ok || isResource(addr) != "":
		return BadAddress
	case !writable(s):
		return BadID
	}
	return isID(id)
}

// isMove checks that a value consists of two addresses.
func isMove(s string) Kind {
	_, to, ok := Pair(s)
	if !ok || len(s) > maxValue || isAddress(to) != "" {
		return BadAddress
	}
	return ""
}

// isID checks the length and the characters of an object's ID. Only the provider knows which IDs exist.
func isID(s string) Kind {
	if s == "" || len(s) > maxValue/2 || !writable(s) || strings.TrimSpace(s) != s {
		return BadID
	}
	return ""
}

var variablePattern = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*=`)

func isVariable(s string) Kind {
	if len(s) > maxValue || !variablePattern.MatchString(s) || !writable(s) {
		return BadVariable
	}
	return ""
}

func isRefresh(s string) Kind {
	if s != "true" && s != "false" && s != Affected {
		return BadSwitch
	}
	return ""
}

func isReason(s string) Kind {
	if strings.TrimSpace(s) == "" || utf8.RuneCountInString(s) > maxReason || !writable(s) {
		return BadReason
	}
	return ""
}

// maxReason is the maximum length of a reason that a user gives with --reason, in characters.
const maxReason = 200
