package budget

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Kind is the limit that would be passed.
type Kind byte

// The kinds of [Excess].
const (
	TextTooLong Kind = iota + 1
	ValueTooLarge
	TotalTooLarge
	TooDeep
	NumberTooLong
	TooManyInstances
	TooManyInAll
	TooMuchWork
	CallTooLong
	TooManyBlocks
	FileTooLarge
	FilesTooLarge
	TooManyTokens
	Interrupted
)

// An Excess is the amount beyond a limit. It is an error, and a diagnostic where a range is known.
type Excess struct {
	Kind Kind
	// The growing value, as the beginning of a sentence: "The result of format". "" means the
	// value.
	What            string
	Needed, Allowed int64
	Values          bool  // Needed and Allowed count values, not bytes
	Cause           error // of an interruption
}

// errInterrupted is the error of an interruption.
var errInterrupted = errors.New("the evaluation was interrupted")

// Is makes errors.Is tell interruptions.
func (x *Excess) Is(target error) bool { return x.Kind == Interrupted && target == errInterrupted }

// Of returns x about a named thing, unless it is about something already.
func (x *Excess) Of(what string) *Excess {
	if x == nil || x.What != "" {
		return x
	}
	y := *x
	y.What = what
	return &y
}

// Summary is a diagnostic's.
func (x *Excess) Summary() string {
	switch x.Kind {
	case TooManyInstances, TooManyInAll:
		return "Too many instances"
	case TooManyBlocks:
		return "Too many blocks"
	case TooMuchWork, CallTooLong:
		return "Evaluation takes too long"
	case FileTooLarge, FilesTooLarge, TooManyTokens:
		return "Configuration too large"
	case Interrupted:
		return "Evaluation was interrupted"
	}
	return "Value too large"
}

// Error is a diagnostic's detail: the need, the limit, and a remedy.
func (x *Excess) Error() string {
	what := x.What
	if what == "" {
		what = "The value"
	}
	switch x.Kind {
	case TextTooLong:
		return fmt.Sprintf("%s would have %s characters; a text may have at most %s here. Use fewer or shorter parts.", what, grouped(x.Needed), Bytes(x.Allowed))
	case ValueTooLarge:
		if x.Values {
			return fmt.Sprintf("%s would have %s values in it, with each repetition counted; %s are allowed here. Use fewer elements, and refer to large values by name instead of copying them.", what, atLeast(x), grouped(x.Allowed))
		}
		return fmt.Sprintf("%s would have texts of %s bytes in it, with each repetition counted; %s are allowed here. Use fewer elements, and refer to large values by name instead of copying them.", what, atLeast(x), Bytes(x.Allowed))
	case TotalTooLarge:
		return fmt.Sprintf("With this, all that the expressions of this run have made takes more than %s, which is the limit here. Make fewer or smaller values, or give the run more memory.", Bytes(x.Allowed))
	case TooDeep:
		return fmt.Sprintf("%s is nested more than %d levels deep, which is the limit. Make it flatter.", what, x.Allowed)
	case NumberTooLong:
		return fmt.Sprintf("%s has a number of more than %s digits, which is the limit here. If it is a text, write it in quotes or begin it with another character.", what, grouped(x.Allowed))
	case TooManyInstances:
		return fmt.Sprintf("There would be %s instances; one count or for_each may make at most %s here. Use a smaller number, or give the run more memory.", grouped(x.Needed), grouped(x.Allowed))
	case TooManyInAll:
		return fmt.Sprintf("With these, the configuration would have %s instances; there may be at most %s here. Use fewer, divide the configuration, or give the run more memory.", grouped(x.Needed), grouped(x.Allowed))
	case TooManyBlocks:
		return fmt.Sprintf("The dynamic blocks of this block would make %s blocks; %s are allowed here. Loop over fewer elements.", grouped(x.Needed), grouped(x.Allowed))
	case TooMuchWork:
		return fmt.Sprintf("The expressions of this run have been evaluated for more than %s steps, which is the limit here; loops in loops take as many steps as the numbers of their elements multiplied. Take out a loop, or loop over fewer elements.", grouped(x.Allowed))
	case CallTooLong:
		return fmt.Sprintf("%s would take about %s steps; %s are allowed for one call here. Use shorter lists, texts or patterns.", what, grouped(x.Needed), grouped(x.Allowed))
	case FileTooLarge:
		return fmt.Sprintf("%s has %s bytes; a file of a configuration may have at most %s here. Divide it, or move its data to another kind of file.", what, grouped(x.Needed), Bytes(x.Allowed))
	case FilesTooLarge:
		return fmt.Sprintf("With it, the files of the configuration have more than %s, which is the limit here. Divide the configuration.", Bytes(x.Allowed))
	case TooManyTokens:
		return fmt.Sprintf("%s has about %s words and signs; %s may be read at once here. Divide it, or move its data to another kind of file.", what, grouped(x.Needed), grouped(x.Allowed))
	case Interrupted:
		if x.Cause == nil {
			return "It was given up before its end."
		}
		return fmt.Sprintf("It was given up before its end: %s.", x.Cause)
	}
	panic(fmt.Sprintf("budget: no text for kind %d", x.Kind))
}

// Diagnostic returns x at a place of the configuration.
func (x *Excess) Diagnostic(at hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: x.Summary(), Detail: x.Error(), Subject: &at, Extra: x}
}

// atLeast is the number needed, of which counting ends where it is too much.
func atLeast(x *Excess) string {
	if x.Needed <= x.Allowed+1 {
		return "more than " + grouped(x.Allowed)
	}
	return grouped(x.Needed)
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Bytes writes a size as people do.
func Bytes(n int64) string {
	switch {
	case n >= gib && n%gib == 0:
		return fmt.Sprintf("%d GiB", n/gib)
	case n >= mib:
		return fmt.Sprintf("%d MiB", n/mib)
	case n >= kib:
		return fmt.Sprintf("%d KiB", n/kib)
	}
	return fmt.Sprintf("%d bytes", n)
}
