package parsing

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// Fits returns an error if a text has so many tokens that parsing it would take more memory than l allows.
// The parsers first make lists of all tokens, with about 100 bytes for each token, and then trees, with about
// 200 bytes for each token. A token can be a single byte.
// Source: measured.
func Fits(src []byte, l budget.Limits) *budget.Excess {
	if int64(len(src)) <= l.Tokens {
		return nil
	}
	if n := tokens(src); n > l.Tokens {
		return &budget.Excess{Kind: budget.TooManyTokens, Needed: n, Allowed: l.Tokens}
	}
	return nil
}

// tokens estimates the number of tokens in a text. Every word, every number and every other sign counts as
// one. Spaces, the further letters of a word, and bytes that are not ASCII do not count.
func tokens(src []byte) int64 {
	n := int64(0)
	word := false
	for _, b := range src {
		switch {
		case b == ' ' || b == '\t' || b == '\r':
			word = false
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80:
			if !word {
				n++
			}
			word = true
		default:
			word = false
			n++
		}
	}
	return n
}

// maxDigits is the largest number of consecutive digits in a text that is parsed. Reading a number takes time
// in the order of the square of its length: a second for a million digits.
const maxDigits = 200_000

// longNumber returns an error at a number that is too long; nil if there is none.
func longNumber(src []byte, name string) *hcl.Diagnostic {
	if len(src) <= maxDigits {
		return nil
	}
	run := 0
	for i, b := range src {
		if run++; b < '0' || b > '9' {
			run = 0
		}
		if run > maxDigits {
			at := place(src, name, i+1-run, i+1)
			return &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Value too large", Subject: &at,
				Detail: fmt.Sprintf("There are more than %d digits in a row, which is the limit. If they are data, let a file have them that is no configuration.", maxDigits),
			}
		}
	}
	return nil
}
