package toolresults

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of an output and of its result.
const (
	MaxBytes    = 32 << 20 // bytes of the output
	MaxFindings = 5_000
	MaxSuites   = 1_000
	MaxFailed   = 1_000
	MaxCosts    = 50 // projects, and resources of one
	MaxProblems = 20

	maxDepth   = 100     // of objects and lists, or of elements
	maxNumber  = 100     // bytes
	maxText    = 4 << 20 // bytes of a text in JSON; of a tag or a text between two tags in XML
	maxEntries = 20_000  // rules, artifacts and bases of a SARIF file, each

	maxName    = 200   // bytes of a rule, a title, a test or a project
	maxMessage = 1_000 // bytes
	maxPath    = 1_000 // bytes
	maxFill    = 1 << 16
)

// Options say what the output is, and where the program ran.
type Options struct {
	// Format is the expected format. With [Detect], the beginning of the output decides.
	Format Format
	// Root is the absolute path of the checkout, as the program saw it. Dir is the program's directory, relative to
	// Root; "." for Root itself. Paths in the output are relative to Dir, or absolute and below Root.
	Root, Dir string
	// Files are the files of the checkout; nil for none. They decide between two meanings of a path, and the content of
	// a finding's line becomes part of its fingerprint. Symbolic links must not lead out of them: use [os.Root.FS].
	Files fs.FS
	// Redact removes the secrets from a text; nil for none. It is called with each text before the text is cut.
	Redact func(string) string
}

// Read reads the output of a program. The error says why an output that should have a format, by [Options.Format] or
// by its beginning, cannot be read: a sentence without secrets, for people. After an error, the result is that of a
// text.
func Read(output []byte, o Options) (Result, error) {
	r := &reader{Options: o, output: bytes.TrimPrefix(output, []byte("\ufeff"))}
	r.output = bytes.TrimLeft(r.output, " \t\r\n")
	format, result, err := r.read()
	if errors.Is(err, errOther) && o.Format == Detect {
		return Result{}, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("the output is not %s that Lockstep can read: %s", names[format], r.cut(err.Error(), maxMessage))
	}
	return result, nil
}

var names = map[Format]string{SARIF: "SARIF", JUnit: "JUnit XML", Infracost: "infracost's JSON"}

// A reader reads one output.
type reader struct {
	Options
	output []byte
	seen   files
	filled int // bytes of messages
}

// errOther means that an output begins like one format, but has the keys of another.
var errOther = errors.New("its keys are not those of the format")

// read returns the result, and the format that an error is about.
func (r *reader) read() (Format, Result, error) {
	format := r.Format
	if format == Detect {
		format = r.detect()
	}
	if len(r.output) == 0 && format != Text {
		return format, Result{}, errors.New("it is empty. The program's standard error may say why")
	}
	if len(r.output) > MaxBytes && format != Text {
		return format, Result{}, fmt.Errorf("it has %d MB, and at most %d MB are read. Let the tool report less, for example by a minimum severity", len(r.output)>>20, MaxBytes>>20)
	}
	switch format {
	case SARIF:
		x, err := r.sarif()
		return format, Result{Findings: x}, err
	case JUnit:
		x, err := r.junit()
		return format, Result{Tests: x}, err
	case Infracost:
		x, err := r.infracost()
		return format, Result{Cost: x}, err
	}
	return Text, Result{}, nil
}

// signs are keys in the beginnings of the formats. If an output has the keys of several formats, the first key counts.
var signs = []struct {
	text   string
	format Format
}{
	{`"runs"`, SARIF}, {`/sarif`, SARIF}, {`"infracostCommand"`, Infracost}, {`"pastTotalMonthlyCost"`, Infracost}, {`"totalMonthlyCost"`, Infracost},
}

// maxBeginning is the number of bytes by which a format is detected.
const maxBeginning = 4_000

// detect returns the format of the output, by its beginning.
func (r *reader) detect() Format {
	begins := r.output[:min(len(r.output), maxBeginning)]
	switch {
	case bytes.HasPrefix(begins, []byte("<")):
		for _, tag := range []string{"<testsuites", "<testsuite"} {
			if bytes.Contains(begins, []byte(tag)) {
				return JUnit
			}
		}
	case bytes.HasPrefix(begins, []byte("{")):
		format, first := Text, len(begins)
		for _, s := range signs {
			if i := bytes.Index(begins, []byte(s.text)); i >= 0 && i < first {
				format, first = s.format, i
			}
		}
		return format
	}
	return Text
}

// cut removes secrets and characters that have no place in a text, and then shortens the text to at most limit bytes.
func (r *reader) cut(text string, limit int) string {
	text = strings.TrimSpace(r.clean(text))
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
	}
	return text
}

// clean removes colours, which could divide a secret, and then secrets. It replaces what is invalid, and control
// characters except for line breaks and tabs.
func (r *reader) clean(text string) string {
	if strings.ContainsRune(text, '\x1b') {
		text = escapes.ReplaceAllString(text, "")
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	if r.Redact != nil {
		text = r.Redact(text)
	}
	control := func(c rune) bool { return unicode.Is(unicode.Cc, c) && c != '\n' && c != '\t' }
	if !strings.ContainsFunc(text, control) {
		return text
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\r':
			return -1
		case control(c):
			return unicode.ReplacementChar
		}
		return c
	}, text)
}
