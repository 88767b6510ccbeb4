package addrs

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
)

// InstanceKey distinguishes the instances that count (with numbers) or for_each (with strings) makes from one
// block. The zero value, [NoKey], is the key for a block that has neither count nor for_each.
type InstanceKey struct {
	kind keyKind
	num  int
	str  string
}

type keyKind byte

const (
	noKey keyKind = iota
	intKey
	stringKey
)

// NoKey is the key of the only instance of a block that has neither count nor for_each.
var NoKey = InstanceKey{}

// IntKey returns the key that count gives to its i-th instance.
func IntKey(i int) InstanceKey { return InstanceKey{kind: intKey, num: i} }

// StringKey returns the key that for_each gives to the element named s.
func StringKey(s string) InstanceKey { return InstanceKey{kind: stringKey, str: s} }

// IsNone reports whether k is [NoKey].
func (k InstanceKey) IsNone() bool { return k.kind == noKey }

// Int returns the number of an [IntKey]. The result is false for any other key.
func (k InstanceKey) Int() (int, bool) { return k.num, k.kind == intKey }

// Str returns the string of a [StringKey]. The result is false for any other key.
func (k InstanceKey) Str() (string, bool) { return k.str, k.kind == stringKey }

// Value returns the key as a value of the language: a number or a string; [cty.NilVal] for [NoKey].
func (k InstanceKey) Value() cty.Value {
	switch k.kind {
	case intKey:
		return cty.NumberIntVal(int64(k.num))
	case stringKey:
		return cty.StringVal(k.str)
	}
	return cty.NilVal
}

// String returns the key as the ending of an address: `[0]`, `["a"]`, or "". Strings are quoted as HCL quotes
// them, with template introducers escaped.
func (k InstanceKey) String() string {
	switch k.kind {
	case intKey:
		return "[" + strconv.Itoa(k.num) + "]"
	case stringKey:
		return "[" + quote(k.str) + "]"
	}
	return ""
}

// Compare orders keys: none, then numbers, then strings.
func (k InstanceKey) Compare(x InstanceKey) int {
	return cmp.Or(cmp.Compare(k.kind, x.kind), cmp.Compare(k.num, x.num), cmp.Compare(k.str, x.str))
}

// quote returns s as an HCL quoted template that means exactly s.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		case !strconv.IsPrint(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case !strconv.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// cutKey reads a key in brackets from the front of s and returns the rest.
func cutKey(s string) (InstanceKey, string, error) {
	if !strings.HasPrefix(s, "[") {
		return NoKey, s, nil
	}
	if strings.HasPrefix(s, `["`) {
		str, rest, err := cutQuoted(s[1:])
		if err != nil {
			return NoKey, s, err
		}
		if !strings.HasPrefix(rest, "]") {
			return NoKey, s, fmt.Errorf("an instance key must end with ]")
		}
		// Terraform normalises strings (Unicode NFC), so the key is normalised as well.
		return StringKey(cty.NormalizeString(str)), rest[1:], nil
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return NoKey, s, fmt.Errorf("an instance key must end with ]")
	}
	n, err := strconv.Atoi(s[1:end])
	if err != nil || n < 0 || s[1] == '+' {
		return NoKey, s, fmt.Errorf("an instance key must be a whole number or a quoted string, not %q", s[1:end])
	}
	return IntKey(n), s[end+1:], nil
}

// cutQuoted reads an HCL quoted string without templates from the front of s. It returns the text that the
// string means, and the rest of s.
func cutQuoted(s string) (string, string, error) {
	var b strings.Builder
	for i := 1; i < len(s); {
		c := s[i]
		switch {
		case c == '"':
			return b.String(), s[i+1:], nil
		case (c == '$' || c == '%') && strings.HasPrefix(s[i+1:], string(c)+"{"):
			b.WriteByte(c)
			b.WriteByte('{')
			i += 3
		case (c == '$' || c == '%') && strings.HasPrefix(s[i+1:], "{"):
			return "", s, fmt.Errorf("an instance key cannot be a template")
		case c == '\n' || c == '\r':
			return "", s, fmt.Errorf("an instance key must be on one line")
		case c == '\\':
			r, n, err := unescape(s[i:])
			if err != nil {
				return "", s, err
			}
			b.WriteRune(r)
			i += n
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				return "", s, fmt.Errorf("an instance key must be valid UTF-8")
			}
			b.WriteString(s[i : i+n])
			i += n
		}
	}
	return "", s, fmt.Errorf("a quoted instance key must end with a quote")
}

// unescape reads the backslash sequence at the beginning of s, such as \n. It returns the character and the
// length of the sequence.
func unescape(s string) (rune, int, error) {
	if len(s) > 1 {
		switch s[1] {
		case 'n':
			return '\n', 2, nil
		case 'r':
			return '\r', 2, nil
		case 't':
			return '\t', 2, nil
		case '"', '\\':
			return rune(s[1]), 2, nil
		case 'u', 'U':
			n := 6
			if s[1] == 'U' {
				n = 10
			}
			if len(s) >= n {
				if v, err := strconv.ParseUint(s[2:n], 16, 32); err == nil && utf8.ValidRune(rune(v)) {
					return rune(v), n, nil
				}
			}
		}
	}
	return 0, 0, fmt.Errorf("unknown escape sequence in an instance key")
}

// KeyFromValue returns the key for a value: a string, or a whole number that is not negative. For any other
// value, unknown and marked values included, the result is false.
func KeyFromValue(v cty.Value) (InstanceKey, bool) {
	if v == cty.NilVal || v.IsMarked() || !v.IsKnown() || v.IsNull() {
		return NoKey, false
	}
	switch v.Type() {
	case cty.String:
		return StringKey(v.AsString()), true
	case cty.Number:
		if i, acc := v.AsBigFloat().Int64(); acc == big.Exact && i >= 0 && i <= math.MaxInt32 {
			return IntKey(int(i)), true
		}
	}
	return NoKey, false
}
