package budget

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Kind names the limit that would be passed.
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

// An Excess reports a limit that would be passed. It is an error, and can be turned into a diagnostic if a
// range is known.
type Excess struct {
	Kind Kind
	// What is the growing value, as the beginning of a sentence: "The result of format". "" means "The
	// value".
	What            string
	Needed, Allowed int64
	Values          bool  // Needed and Allowed count values, not bytes
	Cause           error // of an interruption
}

// errInterrupted is the target with which errors.Is recognizes an Excess of kind Interrupted.
var errInterrupted = errors.New("the evaluation was interrupted")

// Is lets errors.Is recognize interruptions.
func (x *Excess) Is(target error) bool { return x.Kind == Interrupted && target == errInterrupted }

// Of returns a copy of x with the field What set, or x itself if the field is set already.
func (x *Excess) Of(what string) *Excess {
	if x == nil || x.What != "" {
		return x
	}
	y := *x
	y.What = what
	return &y
}

// Summary returns the title of a diagnostic about x, such as Terraform shows it after "Error: ".
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

var excessTexts = map[Kind]string{
	TextTooLong:      "{what} would have {needed} characters; a text may have at most {bytes allowed} here. Use fewer or shorter parts.",
	ValueTooLarge:    "{what} would have texts of {needed, at least} bytes in it, with each repetition counted; {bytes allowed} are allowed here. Use fewer elements, and refer to large values by name instead of copying them.",
	TotalTooLarge:    "With this, all that the expressions of this run have made takes more than {bytes allowed}, which is the limit here. Make fewer or smaller values, or give the run more memory.",
	TooDeep:          "{what} is nested more than {levels allowed} levels deep, which is the limit. Make it flatter.",
	NumberTooLong:    "{what} has a number of more than {allowed} digits, which is the limit here. If it is a text, write it in quotes or begin it with another character.",
	TooManyInstances: "There would be {needed} instances; one count or for_each may make at most {allowed} here. Use a smaller number, or give the run more memory.",
	TooManyInAll:     "With these, the configuration would have {needed} instances; there may be at most {allowed} here. Use fewer, divide the configuration, or give the run more memory.",
	TooManyBlocks:    "The dynamic blocks of this block would make {needed} blocks; {allowed} are allowed here. Loop over fewer elements.",
	TooMuchWork:      "The expressions of this run have been evaluated for more than {allowed} steps, which is the limit here; loops in loops take as many steps as the numbers of their elements multiplied. Take out a loop, or loop over fewer elements.",
	CallTooLong:      "{what} would take about {needed} steps; {allowed} are allowed for one call here. Use shorter lists, texts or patterns.",
	FileTooLarge:     "{what} has {needed} bytes; a file of a configuration may have at most {bytes allowed} here. Divide it, or move its data to another kind of file.",
	FilesTooLarge:    "With it, the files of the configuration have more than {bytes allowed}, which is the limit here. Divide the configuration.",
	TooManyTokens:    "{what} has about {needed} words and signs; {allowed} may be read at once here. Divide it, or move its data to another kind of file.",
	Interrupted:      "It was given up before its end{cause}.",
}

const tooManyValues = "{what} would have {needed, at least} values in it, with each repetition counted; {allowed} are allowed here. Use fewer elements, and refer to large values by name instead of copying them."

// Error returns the detail of a diagnostic: the need, the limit, and what to do.
func (x *Excess) Error() string {
	text, ok := excessTexts[x.Kind]
	if !ok {
		panic(fmt.Sprintf("budget: no text for kind %d", x.Kind))
	}
	if x.Kind == ValueTooLarge && x.Values {
		text = tooManyValues
	}
	cause := ""
	if x.Cause != nil {
		cause = fmt.Sprintf(": %s", x.Cause)
	}
	return strings.NewReplacer(
		"{what}", cmp.Or(x.What, "The value"),
		"{needed}", grouped(x.Needed),
		"{needed, at least}", atLeast(x),
		"{allowed}", grouped(x.Allowed),
		"{bytes allowed}", Bytes(x.Allowed),
		"{levels allowed}", strconv.FormatInt(x.Allowed, 10),
		"{cause}", cause,
	).Replace(text)
}

// Diagnostic returns x as a diagnostic at a place of the configuration.
func (x *Excess) Diagnostic(at hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: x.Summary(), Detail: x.Error(), Subject: &at, Extra: x}
}

// atLeast returns the number that x needs, with "at least" before it: counting stops once the number is too
// large.
func atLeast(x *Excess) string {
	if x.Needed <= x.Allowed+1 {
		return "more than " + grouped(x.Allowed)
	}
	return grouped(x.Needed)
}

// grouped returns a number with commas between its thousands.
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

// Bytes returns a size for people: in bytes, KiB, MiB or GiB.
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
