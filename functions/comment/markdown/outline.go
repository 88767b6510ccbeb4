package markdown

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// A text is Markdown divided into parts. omitted counts what was left out when the Markdown was cut earlier.
type text struct {
	parts   []part
	omitted omission
}

// A part is a piece of Markdown: prose or a code block. For prose, open has all of the text. For a code block,
// open has the opening fence and the <details> before it, and close the closing fence and </details>.
type part struct {
	open, close string
	entries     []*entry
}

func (p part) fenced() bool { return p.close != "" }

// write writes the part with those of its entries that are listed. It leaves out a code block in which no entry
// is listed. short is the number of listed entries that are written without all details.
func (p part) write(b *strings.Builder) (short int) {
	if !p.fenced() {
		b.WriteString(p.open)
		return 0
	}
	var text strings.Builder
	bare := false // the entry before
	for _, e := range p.entries {
		if !e.listed {
			continue
		}
		head := e.head
		if bare && e.bare() && !e.kind.isProblem() { // a problem begins behind an empty line
			head = strings.TrimPrefix(head, "\n")
		}
		text.WriteString(head)
		if e.details(&text) {
			short++
		}
		bare = e.bare()
	}
	if text.Len() > 0 {
		b.WriteString(p.open + strings.TrimPrefix(text.String(), "\n") + p.close)
	}
	return short
}

// A kind is a kind of entry, such as errors. An entry is of this kind if it contains the text mark. many is the
// noun for several entries. Entries with a lower rank are listed first.
type kind struct {
	mark, many string
	rank       int
}

// known are the kinds of entries. The kind follows from the first line of an entry, which package render of the
// engine has written. An error or a warning begins with its mark. For all other entries, the first mark in the
// line counts.
var known = []kind{
	{errorMark, "errors", 0},
	{" will be destroyed", "to destroy", 0},
	{" must be replaced", "to replace", 0},
	{" will be replaced", "to replace", 0},
	{" will no longer be managed", "to forget", 1},
	{" will be updated in-place", "to change", 1},
	{" will be created", "to create", 2},
	{" will be imported", "to import", 2},
	{" has moved to ", "to move", 2},
	{" has been deleted", "deleted outside", 3},
	{" has changed", "changed outside", 3},
	{" will be read", "to read", 3},
	{warningMark, "warnings", 3},
	{"", "others", 4}, // outputs, in a plan
}

// The words with which an error or a warning begins. In output with colours, for example quoted output of a
// command, an error has a frame around it.
const (
	errorMark   = "Error: "
	warningMark = "Warning: "
)

// isProblem reports whether entries of the kind are errors or warnings.
func (k kind) isProblem() bool { return k.mark == errorMark || k.mark == warningMark }

// problem returns the words with which an error or a warning begins in this line; "" if none begins here. after
// is set if the line is the first one or follows an empty line. Elsewhere, the text of an error may contain the
// same words.
func problem(line string, after bool) string {
	line, framed := strings.CutPrefix(line, "│ ")
	for _, mark := range []string{errorMark, warningMark} {
		if strings.HasPrefix(line, mark) && (framed || after) {
			return mark
		}
	}
	return ""
}

// FirstError returns the first line of the first error in Markdown; "" if there is no error.
func FirstError(text string) string {
	before := ""
	for line := range strings.Lines(text) {
		if problem(line, strings.TrimSpace(before) == "" || grammar.OpensFence(strings.TrimSpace(before)) != "") == errorMark {
			_, headline, _ := strings.Cut(line, errorMark)
			return strings.TrimSpace(headline)
		}
		before = line
	}
	return ""
}

// An entry is an item of a code block, such as an error or the change of an object. It has a first line, and a
// tree of details.
type entry struct {
	node
	kind   kind
	listed bool
	given  int // bytes for the details
}

// need returns the size of the entry without its first line, in bytes.
func (e *entry) need() int { return e.size - len(e.head) }

// bare reports whether the entry is written as its first line only, without details.
func (e *entry) bare() bool {
	return len(e.kids) == 0 || e.given < e.need() && e.given-len(e.tail) < longestMark
}

// details writes the details of the entry. It reports whether some are missing, because of this cut or an
// earlier one.
func (e *entry) details(b *strings.Builder) (short bool) {
	switch {
	case len(e.kids) == 0:
		b.WriteString(e.tail)
		return strings.HasPrefix(e.kind.mark, " ")
	case e.bare():
		return true
	case e.given < e.need():
		fit(b, e.kids, e.given-len(e.tail))
		b.WriteString(e.tail)
		return true
	}
	for _, k := range e.kids {
		k.whole(b)
	}
	b.WriteString(e.tail)
	return e.omits()
}

// A node is a part of an entry's details, divided by indentation. head is its first line, kids are the lines
// below it that are indented further, and tail is the closing bracket.
type node struct {
	head string
	kids []*node
	tail string
	size int // of all, in bytes
}

func (n *node) whole(b *strings.Builder) {
	b.WriteString(n.head)
	for _, k := range n.kids {
		k.whole(b)
	}
	b.WriteString(n.tail)
}

// least returns the size of the node if it is written without details, in bytes.
func (n *node) least() int {
	if len(n.kids) == 0 {
		return n.size
	}
	return min(n.size, len(n.head)+longestMark+len(n.tail))
}

// lines returns the number of lines of a node. It includes lines that were left out by an earlier cut.
func (n *node) lines() int {
	count := strings.Count(n.head, "\n") + strings.Count(n.tail, "\n")
	if m := mark.FindStringSubmatch(n.head); m != nil {
		before, err := strconv.Atoi(m[1])
		if err == nil {
			count += before - 1
		}
	}
	for _, k := range n.kids {
		count += k.lines()
	}
	return count
}

// omits reports whether lines of the node were left out by an earlier cut.
func (n *node) omits() bool {
	return mark.MatchString(n.head) || slices.ContainsFunc(n.kids, (*node).omits)
}

// mark matches the line that cuts write in place of lines that were left out.
var mark = regexp.MustCompile(`^[ │]*[#(]+ ?(\d+) lines left out\)\n$`)

const longestMark = len("                                # (100000 lines left out)\n")

// fit writes as much of the nodes as fits into room bytes. A mark replaces the lines that are left out. First,
// each node gets its own line. The lines below the nodes share the remaining bytes.
func fit(b *strings.Builder, nodes []*node, room int) {
	total, least := 0, 0
	for _, n := range nodes {
		total += n.size
		least += n.least()
	}
	if total <= room {
		for _, n := range nodes {
			n.whole(b)
		}
		return
	}
	kept := len(nodes)
	if least > room {
		room -= longestMark
		for kept = 0; nodes[kept].least() <= room; kept++ {
			room -= nodes[kept].least()
		}
	} else {
		room -= least
	}
	needs := make([]int, kept)
	for i, n := range nodes[:kept] {
		needs[i] = n.size - n.least()
	}
	level := Level(room, needs)
	for _, n := range nodes[:kept] {
		if extra := n.size - n.least(); extra <= level {
			n.whole(b)
			continue
		}
		b.WriteString(n.head)
		fit(b, n.kids, longestMark+level)
		b.WriteString(n.tail)
	}
	left := 0
	for _, n := range nodes[kept:] {
		left += n.lines()
	}
	if left > 0 {
		b.WriteString(marked(nodes[0].head, left))
	}
}

// marked returns a line that replaces left lines. line is the first of the replaced lines; the new line has the
// same indentation.
func marked(line string, left int) string {
	if strings.HasPrefix(line, "│") {
		return fmt.Sprintf("│ (%d lines left out)\n", left)
	}
	return fmt.Sprintf("%s# (%d lines left out)\n", strings.Repeat(" ", min(column(line), 30)), left)
}

// column returns the column of the first character of a line. Spaces and a diff sign (such as + or -/+) at
// the beginning do not count as characters. For example, it is 4 for "    a" and "+   a".
func column(line string) int {
	line = strings.TrimLeft(line, "\n")
	text := strings.TrimLeft(line, "-+!~<=/.")
	if !strings.HasPrefix(text, " ") {
		text = line
	}
	return len(line) - len(strings.TrimLeft(text, " "))
}

// note matches the line that [omission.note] returns.
var note = regexp.MustCompile(`^\*Shortened to fit(?:: \d+ without all details)?(?:; not listed: ([^*]*))?\.\*`)

// picture is the language of code blocks that GitHub shows as pictures.
const picture = "mermaid"

// parse divides Markdown into parts, and cuts the long lines in its code blocks.
func parse(markdown string) text {
	t := text{omitted: omission{unlisted: map[string]int{}}}
	var around, code []string // lines
	fence, first := "", ""
	open := func() {
		if text := strings.Join(around, ""); text != "" {
			t.parts = append(t.parts, part{open: text})
		}
		around = nil
	}
	lines := slices.Collect(strings.Lines(markdown))
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n"
	}
	for _, line := range lines {
		bare := bareLine(line)
		switch {
		case fence == "" && grammar.OpensFence(bare) != "":
			fence, first = grammar.OpensFence(bare), line
		case fence == "":
			if m := note.FindStringSubmatch(bare); m != nil {
				t.omitted.read(m[1])
				continue
			}
			around = append(around, line)
		case grammar.ClosesFence(bare, fence):
			p := part{open: first, close: line, entries: entries(code)}
			if strings.HasPrefix(bareLine(first), fence+picture) {
				p.entries = nil // a part of a picture is none
			}
			// A <details> element around a code block is a part of that block.
			if n := len(around); n >= 2 && strings.HasPrefix(around[n-2], "<details") && around[n-1] == "\n" {
				p.open = around[n-2] + "\n" + first
				around = around[:n-2]
			}
			open()
			t.parts = append(t.parts, p)
			fence, code = "", nil
		default:
			code = append(code, cutLine(line))
		}
	}
	if fence != "" { // it is open at the end
		open()
		t.parts = append(t.parts, part{open: first, close: fence + "\n", entries: entries(code)})
	}
	open()
	for i := 1; i < len(t.parts); i++ {
		const end = "\n</details>\n"
		if rest, ok := strings.CutPrefix(t.parts[i].open, end); ok && !t.parts[i].fenced() && strings.HasPrefix(t.parts[i-1].open, "<details") {
			t.parts[i-1].close += end
			t.parts[i].open = rest
		}
	}
	return t
}

func bareLine(line string) string { return strings.TrimRight(strings.TrimLeft(line, " "), "\n") }

// read adds the numbers in the note of an earlier cut to o.unlisted. kinds is the part of the note with the
// numbers.
func (o *omission) read(kinds string) {
	for item := range strings.SplitSeq(kinds, ", ") {
		number, many, _ := strings.Cut(item, " ")
		if n, err := strconv.Atoi(number); err == nil {
			o.unlisted[many] += n
		}
	}
}

// entries divides the lines of a code block into entries. Errors or changes are entries. If there are none,
// each line with the smallest indentation begins an entry.
func entries(lines []string) []*entry {
	framed := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "╷") })
	problems := false
	begins := func(i int) bool {
		if framed {
			return strings.HasPrefix(lines[i], "╷")
		}
		return problem(lines[i], i == 0 || strings.TrimSpace(lines[i-1]) == "") != ""
	}
	for i := range lines {
		problems = problems || begins(i)
	}
	if !problems {
		begins = func(i int) bool {
			return strings.HasPrefix(lines[i], "# ") && (i == 0 || !strings.HasPrefix(lines[i-1], "# ") || titled(lines[i]))
		}
	}
	var out []*entry
	at := -1
	end := func(to int) {
		if at < 0 {
			for _, n := range tree(lines[:to]) {
				out = append(out, newEntry(n))
			}
			return
		}
		head, from := lines[at], at+1
		if strings.HasPrefix(head, "╷") && from < to {
			head += lines[from]
			from++
		}
		if kindOf(head).isProblem() {
			n := from + about(lines[from:to])
			head, from = head+strings.Join(lines[from:n], ""), n
		}
		n := &node{head: "\n" + head, kids: tree(lines[from:to])}
		if k := len(n.kids) - 1; k >= 0 && strings.HasPrefix(n.kids[k].head, "╵") {
			n.tail, n.kids = n.kids[k].head, n.kids[:k]
		}
		n.measure()
		out = append(out, newEntry(n))
	}
	for i := range lines {
		if begins(i) {
			if i > 0 {
				end(i)
			}
			at = i
		}
	}
	end(len(lines))
	return out
}

// about returns how many lines of a problem, after its first line, name the problem's object and its place in
// the files. These lines distinguish equal problems.
func about(lines []string) (n int) {
	for i, line := range lines[:min(3, len(lines))] {
		if line = strings.TrimPrefix(line, "│ "); strings.HasPrefix(line, "  with ") || strings.HasPrefix(line, "  on ") {
			n = i + 1
		}
	}
	return n
}

// titled reports whether a line that begins with "#" contains the address and the action of a change. It
// returns false for a remark such as "# (because ...)".
func titled(line string) bool {
	return !strings.HasPrefix(line, "# (") && strings.HasPrefix(kindOf(line).mark, " ")
}

func kindOf(head string) kind {
	mark := problem(strings.TrimPrefix(strings.TrimLeft(head, "\n"), "╷\n"), true)
	return known[slices.IndexFunc(known, func(k kind) bool {
		if k.isProblem() {
			return k.mark == mark
		}
		return mark == "" && strings.Contains(head, k.mark)
	})]
}

func newEntry(n *node) *entry { return &entry{node: *n, kind: kindOf(n.head)} }

func (n *node) measure() {
	n.size = len(n.head) + len(n.tail)
	for _, k := range n.kids {
		n.size += k.size
	}
}

// tree builds a tree of nodes from lines, by their indentation. An empty line belongs to the line after it.
func tree(lines []string) []*node {
	var out []*node
	empty := ""
	for i := 0; i < len(lines); {
		if strings.TrimSpace(lines[i]) == "" {
			empty += "\n"
			i++
			continue
		}
		at := column(lines[i])
		to := i + 1
		for to < len(lines) && (strings.TrimSpace(lines[to]) == "" || column(lines[to]) > at) {
			to++
		}
		for strings.TrimSpace(lines[to-1]) == "" {
			to--
		}
		text := strings.TrimLeft(lines[i], "-+!~<=/. ")
		if last := len(out) - 1; last >= 0 && to == i+1 && empty == "" && out[last].tail == "" && len(out[last].kids) > 0 &&
			column(out[last].head) == at && (strings.ContainsAny(text[:1], "}])") || strings.HasPrefix(text, "EOT")) {
			out[last].tail = lines[i]
			out[last].measure()
		} else {
			n := &node{head: empty + lines[i], kids: tree(lines[i+1 : to])}
			n.measure()
			out = append(out, n)
		}
		empty = ""
		i = to
	}
	return out
}

// longLine is the maximum length of a line in bytes. A longer line is cut in the middle.
const longLine = 300

// cutLine cuts a long line in the middle. If the line has an old and a new value, the part where they differ
// stays.
func cutLine(line string) string {
	if len(line) <= longLine {
		return line
	}
	before, after, two := strings.Cut(line, `" -> "`)
	if !two {
		return inside(line, 0)
	}
	start := strings.IndexByte(before, '"') + 1
	same := 0
	for same < min(len(before)-start, len(after)) && before[start+same] == after[same] {
		same++
	}
	return inside(before, start+same) + `" -> "` + inside(after, same)
}

// inside cuts a long text. It keeps the beginning, the end, and the part around the position at. In place of
// each gap it writes the number of missing bytes.
func inside(text string, at int) string {
	const shown = longLine / 4
	if len(text) <= 2*shown {
		return text
	}
	var b strings.Builder
	keep := func(from, to int) string { return strings.ToValidUTF8(text[max(from, 0):min(to, len(text))], "") }
	gap := func(n int) { fmt.Fprintf(&b, "…(%d bytes left out)…", n) }
	b.WriteString(keep(0, shown))
	end := shown
	if from := at - shown/3; from > end {
		gap(from - end)
		end = from + shown
		b.WriteString(keep(from, end))
	}
	if last := len(text) - shown/3; last > end {
		gap(last - end)
		end = last
	}
	b.WriteString(keep(end, len(text)))
	if !utf8.ValidString(text) {
		return strings.ToValidUTF8(b.String(), "\ufffd")
	}
	return b.String()
}
