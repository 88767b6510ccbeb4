package redacting

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// shortestNumber is the smallest number of digits of a secret number that is removed. Shorter numbers, such as
// counts, ports and percentages, are frequent in a plan, and can be guessed in a thousand attempts. If they
// were removed, readers could not see what the plan does.
const shortestNumber = 4

// longNumber is a number of digits. A secret number with at least this many digits is also found as a part of a
// longer number.
const longNumber = 8

// A number is the absolute value of a decimal number. It is 0.DIGITS times ten to the power of exp; DIGITS (the
// field significant) neither begins nor ends with a zero.
type number struct {
	significant string
	exp         int
}

// String returns the same text for all spellings of a number.
func (n number) String() string { return n.significant + "e" + strconv.Itoa(n.exp) }

// digits returns how many digits the number has if it is written without an exponent and without leading zeros.
func (n number) digits() int { return max(len(n.significant), n.exp) }

// isNumber reports whether a text is a decimal number as a whole.
func isNumber(text string) bool {
	_, ok := parseNumber(text)
	return ok
}

// parseNumber parses a number as JSON or people write it: a sign, digits (perhaps in groups of three), a
// fraction, an exponent. It returns false if text is not a number.
func parseNumber(text string) (number, bool) {
	text = strings.TrimLeft(text, "+-")
	for _, grouped := range []bool{false, true} {
		if n, size := readNumber(text, grouped); size == len(text) && size > 0 {
			return n, true
		}
	}
	return number{}, false
}

// readNumber reads a number at the beginning of text. If grouped is set, its digits may be in groups of three.
// size is the number of characters; 0 if there is no number.
func readNumber(text string, grouped bool) (n number, size int) {
	whole := run(text)
	if whole == 0 {
		return number{}, 0
	}
	digits := text[:whole]
	size = whole
	if grouped {
		digits, size = groups(text, whole)
		if size == whole {
			return number{}, 0
		}
	}
	point := len(digits)
	if rest := text[size:]; strings.HasPrefix(rest, ".") && run(rest[1:]) > 0 {
		f := run(rest[1:])
		digits += rest[1 : 1+f]
		size += 1 + f
	}
	exp, length := exponent(text[size:])
	size += length
	trimmed := strings.TrimLeft(digits, "0")
	n.exp = point - (len(digits) - len(trimmed)) + exp
	if n.significant = strings.TrimRight(trimmed, "0"); n.significant == "" {
		n.exp = 0
	}
	return n, size
}

// groups reads digits that are separated into groups of three, such as "1,234,567". The first group has one to
// three digits, and whole is its length. The separator must be the same everywhere. size is the number of
// characters.
func groups(text string, whole int) (digits string, size int) {
	digits, size = text[:whole], whole
	if whole > 3 {
		return digits, size
	}
	between, width := utf8.DecodeRuneInString(text[whole:])
	if !strings.ContainsRune(",_' \u00a0\u202f\u2009.", between) {
		return digits, size
	}
	for strings.HasPrefix(text[size:], string(between)) && run(text[size+width:]) == 3 {
		digits += text[size+width : size+width+3]
		size += width + 3
	}
	return digits, size
}

// exponent reads the exponent at the beginning of text, such as "e-5". size is the number of its characters.
// size is 0 if there is no exponent, or if the exponent is implausibly large.
func exponent(text string) (exp, size int) {
	if text == "" || text[0] != 'e' && text[0] != 'E' {
		return 0, 0
	}
	if size = 1; len(text) > 1 && (text[1] == '+' || text[1] == '-') {
		size = 2
	}
	n := run(text[size:])
	if n == 0 || n > 6 {
		return 0, 0
	}
	exp, _ = strconv.Atoi(text[size : size+n])
	return exp * signOf(text[1]), size + n
}

func signOf(c byte) int {
	if c == '-' {
		return -1
	}
	return 1
}

// run returns the number of decimal digits at the beginning of a text.
func run(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// numbersIn returns where the secret numbers are in a text. It reads each run of digits in three ways: as the
// beginning of a number in groups of three, as a number with a fraction and an exponent, and alone.
func numbersIn(text string, secret map[string]bool) []span {
	var out []span
	for i := 0; i < len(text) && len(secret) > 0; {
		whole := run(text[i:])
		if whole == 0 {
			i++
			continue
		}
		next := i + whole
		for _, try := range []string{text[i:], text[i:next]} {
			for _, grouped := range []bool{true, false} {
				if n, size := readNumber(try, grouped); size > 0 && secret[n.String()] && i+size > next-1 {
					out = append(out, span{i, i + size})
					next = max(next, i+size)
				}
			}
		}
		i = next
	}
	return out
}
