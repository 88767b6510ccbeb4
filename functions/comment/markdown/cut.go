package markdown

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Cut shortens Markdown to at most limit bytes. See [CutTo].
func Cut(text string, limit int) string { return CutTo(text, limit, "") }

// Useful is a length in bytes. A text cut to less than that is not worth reading.
const Useful = 300

// CutTo shortens the Markdown of a plan, a comparison or errors to at most limit bytes. At the end it says how
// much is left out. where is a sentence in Markdown that says where the full text is; it may be "".
//
// An entry is an error, the change of an object, or an output. Each entry first gets its line with the address
// and the action. Then the entries share the remaining room for their details; short details are not cut. Long
// values are cut in the middle. If there is no room for all lines, errors, destructions and replacements come
// first, and the rest is counted by kind. Outputs come last: they leave room for details of errors,
// destructions, replacements and updates. The Markdown may be a result of an earlier CutTo.
func CutTo(markdown string, limit int, where string) string {
	if len(markdown) <= limit {
		return markdown
	}
	t := parse(markdown)
	if where != "" {
		where = " " + where
	}
	frames := 0
	var entries []*entry
	worst := func(a, b *entry) int { return cmp.Compare(a.kind.rank, b.kind.rank) }
	for _, p := range t.parts {
		frames += len(p.open) + len(p.close)
		slices.SortStableFunc(p.entries, worst)
		entries = append(entries, p.entries...)
	}
	slices.SortStableFunc(entries, worst)
	// longest is the omission with the longest note: no entry is listed.
	longest := omission{details: len(entries), unlisted: maps.Clone(t.omitted.unlisted)}
	for _, e := range entries {
		longest.unlisted[e.kind.many]++
	}
	room := limit - frames - len(longest.note()) - len(where)
	if room < 0 {
		longest.details = 0
		return prose(t.parts, limit, longest.note()[1:], where)
	}
	listed, kept := 0, 0
	for ; listed < len(entries); listed++ {
		e := entries[listed]
		if e.kind.mark == "" && kept == 0 { // before the first output
			for _, first := range entries[:listed] {
				if first.kind.rank <= 1 {
					kept += min(first.need(), Useful)
				}
			}
			kept = min(kept, room)
		}
		if len(e.head) > room-kept {
			break
		}
		room -= len(e.head)
		e.listed = true
	}
	for _, e := range entries[listed:] {
		t.omitted.unlisted[e.kind.many]++
	}
	share(entries[:listed], room)
	var b strings.Builder
	for _, p := range t.parts {
		t.omitted.details += p.write(&b)
	}
	return strings.TrimRight(b.String(), "\n") + "\n" + strings.TrimSuffix(t.omitted.note(), "\n") + where + "\n"
}

// share divides room bytes among the details of the entries. All entries get the same number of bytes. What an
// entry does not need goes to the others. If an equal share would be less than Useful, only the first entries
// get bytes.
func share(entries []*entry, room int) {
	needs := make([]int, len(entries))
	for i, e := range entries {
		needs[i] = e.need()
	}
	level := Level(room, needs)
	for _, e := range entries {
		if level >= Useful {
			e.given = min(e.need(), level)
			continue
		}
		e.given = min(e.need(), Useful, room)
		room -= e.given
	}
}

// Level divides room bytes among several needs. It returns the largest number of bytes that a single need can
// get: a need up to this number gets all its bytes, a larger one this number. If room is enough for all, the
// result is at least the largest need.
func Level(room int, needs []int) int {
	needs = slices.Sorted(slices.Values(needs))
	for i, n := range needs {
		if level := room / (len(needs) - i); n > level {
			return level
		}
		room -= n
	}
	return math.MaxInt
}

// prose returns as much of the text before the first code block as fits, and then the note. If the note does
// not fit, a shorter note says only that the text was cut. prose returns "" if that does not fit, either.
func prose(parts []part, limit int, note, where string) string {
	note = strings.TrimSuffix(note, "\n") + where + "\n"
	if len(note) > limit*2/3 {
		note = omission{}.note()[1:]
	}
	if len(note) > limit {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		if p.fenced() || b.Len()+len(p.open)+len("\n")+len(note) > limit {
			break
		}
		b.WriteString(p.open)
	}
	if s := strings.TrimRight(b.String(), "\n"); s != "" {
		return s + "\n\n" + note
	}
	return note
}

// An omission counts what was left out of a text:
//   - details is the number of entries that are listed, but not with all of their details.
//   - unlisted is the number of entries that are not listed, by kind of entry.
type omission struct {
	details  int
	unlisted map[string]int
}

// note returns the line that says what was left out, the worst kinds of entries first. [parse] can read this
// line.
func (o omission) note() string {
	text := "\n*Shortened to fit"
	if o.details > 0 {
		text += fmt.Sprintf(": %d without all details", o.details)
	}
	if len(o.unlisted) > 0 {
		var kinds []string
		for _, k := range known {
			if n := o.unlisted[k.many]; n > 0 && !slices.ContainsFunc(kinds, func(s string) bool { return strings.HasSuffix(s, " "+k.many) }) {
				kinds = append(kinds, fmt.Sprintf("%d %s", n, k.many))
			}
		}
		text += fmt.Sprintf("; not listed: %s", strings.Join(kinds, ", "))
	}
	return text + ".*\n"
}
