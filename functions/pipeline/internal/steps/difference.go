package steps

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// canonical returns the text of a configuration file. JSON is indented, and the keys of its objects are sorted. Text that is
// not JSON, or whose JSON is nested too deep, stays as it is.
func canonical(name string, data []byte) string {
	if strings.HasSuffix(name, ".json") {
		left := 8*len(data) + 1000
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if text, err := (sorter{d, &left}).next(0); err == nil && ended(d) {
			return string(text) + "\n"
		}
	}
	return string(data)
}

// ended reports whether nothing follows the JSON.
func ended(d *json.Decoder) bool {
	_, err := d.Token()
	return err == io.EOF
}

// A sorter reads JSON, and returns it with sorted keys. Like HCL, and unlike encoding/json, it keeps all values of a key that
// occurs more than once.
type sorter struct {
	*json.Decoder
	left *int // bytes that the text may still have
}

// maxJSONDepth is the depth to which objects and lists can be nested.
const maxJSONDepth = 100

var errLimit = errors.New("the JSON is too deep or too long")

// next returns the next value.
func (s sorter) next(depth int) ([]byte, error) {
	t, err := s.Token()
	if err != nil {
		return nil, err
	}
	begin, nested := t.(json.Delim)
	if !nested {
		text := encoded(t)
		*s.left -= len(text)
		return text, nil
	}
	indent := strings.Repeat("  ", depth+1)
	type member struct{ key, value []byte }
	var members []member
	for s.More() {
		if *s.left -= len(indent) + 2; depth == maxJSONDepth || *s.left < 0 {
			return nil, errLimit
		}
		var key []byte
		if begin == '{' {
			if t, err = s.Token(); err != nil {
				return nil, err
			}
			key = append(encoded(t), ": "...)
			*s.left -= len(key)
		}
		value, err := s.next(depth + 1)
		if err != nil {
			return nil, err
		}
		members = append(members, member{key, value})
	}
	end, err := s.Token()
	if err != nil {
		return nil, err
	}
	if begin == '{' {
		slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s", begin)
	for i, m := range members {
		fmt.Fprintf(&b, "%s\n%s%s%s", map[bool]string{true: ","}[i > 0], indent, m.key, m.value)
	}
	if len(members) > 0 {
		b.WriteString("\n" + indent[2:])
	}
	fmt.Fprintf(&b, "%s", end)
	return b.Bytes(), nil
}

// encoded returns a token as JSON.
func encoded(t json.Token) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		panic(err) // it was JSON before
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// These limit a difference of files.
const (
	maxDifference    = 1 << 18 // bytes of the text
	maxDiffLine      = 500     // bytes
	maxDiffLines     = 5_000   // lines of a file that differ
	maxDiffLinesEach = 20_000  // the same of all files
	diffContext      = 3       // lines around a change
)

// changesOf returns how files differ from those of the base, and the difference as text: one line for each line of a file,
// after a sign, and one that begins with "#" for each file.
func changesOf(base comment.FileBase, was, is configFiles) (*comment.FileChanges, string) {
	out := &comment.FileChanges{Base: base}
	names := slices.Sorted(maps.Keys(is))
	for name := range was {
		if _, ok := is[name]; !ok {
			names = append(names, name)
		}
	}
	// Changed files come first, because the difference of a new file is long and says little.
	rank := func(name string) int {
		_, before := was[name]
		_, now := is[name]
		switch {
		case before && now:
			return 0
		case before:
			return 1
		}
		return 2
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
	var b strings.Builder
	left := maxDiffLinesEach
	for _, name := range names {
		old, new := was[name], is[name]
		words := "has changed"
		switch {
		case old == new:
			out.Same++
			continue
		case rank(name) == 1:
			out.Gone++
			words = "is no longer generated"
		case rank(name) == 2:
			out.New++
			words = "is new"
		default:
			out.Changed++
		}
		if b.Len() > maxDifference {
			out.Cut = true
			continue
		}
		text, no := lineDiff(old, new, &left)
		if no != "" {
			out.Cut, words = true, words+", and "+no
		}
		fmt.Fprintf(&b, "# %s %s\n%s\n", oneLine(name), words, text)
	}
	return out, strings.TrimSuffix(b.String(), "\n")
}

// oneLine returns a file's name. If the name could break the line, it is quoted.
func oneLine(name string) string {
	if q := strconv.Quote(name); q != `"`+name+`"` {
		return q
	}
	return name
}

// lineDiff returns the lines that differ, with the lines around them. no is the reason if the lines are left out. left is the
// number of lines that may still be compared.
func lineDiff(old, new configFile, left *int) (text, no string) {
	if old.Sum != "" || new.Sum != "" {
		return "", fmt.Sprintf("was not compared (%d MB)", max(old.Size, new.Size)>>20)
	}
	a, b := strings.SplitAfter(old.Text, "\n"), strings.SplitAfter(new.Text, "\n")
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	for end := 1; same+end <= min(len(a), len(b)) && a[len(a)-end] == b[len(b)-end]; end++ {
		same++
	}
	n := len(a) + len(b) - 2*same
	if *left -= n; n > maxDiffLines || *left < 0 {
		return "", fmt.Sprintf("has too many lines that differ (%d)", n)
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // the numbers of lines are the limit, so the result is always the same
	was, is, lines := d.DiffLinesToRunes(old.Text, new.Text)
	var out strings.Builder
	all := d.DiffCharsToLines(d.DiffMainRunes(was, is, false), lines)
	for i, x := range all {
		sign := map[diffmatchpatch.Operation]string{diffmatchpatch.DiffEqual: "  ", diffmatchpatch.DiffInsert: "+ ", diffmatchpatch.DiffDelete: "- "}[x.Type]
		part := slices.Collect(strings.Lines(x.Text))
		if x.Type == diffmatchpatch.DiffEqual {
			first, last := diffContext, diffContext
			if i == 0 {
				first = 0
			}
			if i == len(all)-1 {
				last = 0
			}
			if more := len(part) - first - last; more > 1 {
				gap := "@@\n"
				if last == 0 {
					gap = ""
				}
				write(&out, sign, part[:first])
				out.WriteString(gap)
				part = part[len(part)-last:]
			}
		}
		write(&out, sign, part)
	}
	return out.String(), ""
}

// visible replaces control characters, which could move the cursor of a terminal.
func visible(c rune) rune {
	if unicode.Is(unicode.Cc, c) && c != '\t' {
		return unicode.ReplacementChar
	}
	return c
}

// write writes lines after a sign.
func write(to *strings.Builder, sign string, lines []string) {
	for _, line := range lines {
		line, end := strings.CutSuffix(line, "\n")
		line = strings.Map(visible, strings.TrimSuffix(line, "\r"))
		if len(line) > maxDiffLine {
			line = strings.ToValidUTF8(line[:maxDiffLine], "") + "…"
		}
		if to.WriteString(sign + line + "\n"); !end {
			to.WriteString("\\ No newline at end of file\n")
		}
	}
}
