package toolresults

import (
	"bytes"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// Limits of [Tail].
const (
	MaxTailLines = 40
	maxTail      = 6_000   // bytes
	maxTailLine  = 500     // bytes
	tailRead     = 1 << 17 // bytes that are looked at
)

// escapes matches the sequences by which programs set colours and move the cursor of a terminal, and write titles.
var escapes = lazyregexp.New(`\x1b(\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\^_])`)

// These are the limits of [Readable].
const (
	MaxKept = 1 << 19 // bytes of the text
	// maxSecret is the length of the longest secret that the cut could divide, in bytes.
	maxSecret = 1 << 16
)

// Readable returns an output without its secrets and without the sequences that control a terminal. Of a long output, it
// returns the end, at most [MaxKept] bytes from the beginning of a line. cut is set if something is left out.
func Readable(output []byte, redact func(string) string) (text string, cut bool) {
	if more := len(output) - MaxKept - maxSecret; more > 0 {
		output, cut = output[more:], true
	}
	r := reader{Options: Options{Redact: redact}}
	text = r.clean(string(output))
	if cut { // The beginning may contain half of a secret.
		text = text[min(maxSecret, len(text)):]
	}
	if more := len(text) - MaxKept; more > 0 {
		text, cut = text[more:], true
	}
	if cut {
		_, rest, found := strings.Cut(text, "\n")
		if text = strings.ToValidUTF8(text, ""); found {
			text = rest
		}
	}
	return text, cut
}

// Tail returns the last lines of an output as people would see them on a terminal: without colours. Of a line that the
// program has overwritten, it returns the last version. lines is the number of lines that are left out before the
// result; -1 if there are too many to be counted. Like the texts of a [Result], the text is redacted by redact and
// then cut.
func Tail(output []byte, redact func(string) string) (text string, lines int) {
	counted := 0
	if more := len(output) - tailRead; more > 0 {
		// The first line may contain half of a secret.
		n := bytes.IndexByte(output[more:], '\n')
		if n < 0 {
			return "(a line is longer than 128 KB)", -1
		}
		counted = bytes.Count(output[:more+n+1], []byte("\n"))
		output = output[more+n+1:]
	}
	r := reader{Options: Options{Redact: redact}}
	all := strings.Split(strings.TrimRight(string(output), " \t\r\n"), "\n")
	for i, line := range all {
		line = strings.TrimRight(line, " \t\r")
		all[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	all = strings.Split(r.clean(strings.Join(all, "\n")), "\n")
	first, size := len(all), 0
	for first > 0 && len(all)-first < MaxTailLines {
		line := all[first-1]
		if len(line) > maxTailLine {
			line = strings.ToValidUTF8(line[:maxTailLine-len("…")], "") + "…"
		}
		if size += len(line) + 1; size > maxTail {
			break
		}
		first--
		all[first] = line
	}
	return strings.Trim(strings.Join(all[first:], "\n"), "\n"), counted + first
}
