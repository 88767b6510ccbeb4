package redacting

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A text is searched in pieces, because all of its decoded forms would need many times its memory. Each piece
// overlaps with the next by more than the longest form of a window.
const (
	piece   = 256 << 10
	overlap = 16 << 10
)

// found returns where secrets are in a text, in order and without overlaps.
func (s *Secrets) found(text string) []span {
	found := append(numbersIn(text, s.numbers), s.inside(text, mostLayers)...)
	for from := 0; from < len(text); from += piece {
		end := min(len(text), from+piece+overlap)
		start := from
		for start > 0 && !utf8.RuneStart(text[start]) {
			start--
		}
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		for _, view := range decoded(newStream(text[start:end], start)) {
			found = append(found, s.index.find(view)...)
		}
	}
	return spare(merged(found), text)
}

// merged sorts spans, and joins those that overlap.
func merged(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out []span
	for _, x := range all {
		if last := len(out) - 1; last >= 0 && x.from < out[last].to {
			out[last].to = max(out[last].to, x.to)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// spare removes certain lines from the spans in found, so that these lines are not hidden: the lines that
// [structure] matches.
func spare(found []span, text string) []span {
	if len(found) == 0 {
		return nil
	}
	var out []span
	lines := structure().FindAllStringIndex(text, -1)
	for _, x := range found {
		for len(lines) > 0 && lines[0][1] <= x.from {
			lines = lines[1:]
		}
		for i := 0; i < len(lines) && lines[i][0] < x.to; i++ {
			if x.from < lines[i][0] {
				out = append(out, span{x.from, lines[i][0]})
			}
			x.from = min(max(x.from, lines[i][1]), x.to)
		}
		if x.from < x.to {
			out = append(out, x)
		}
	}
	return out
}

// without returns text with each span replaced by [Hidden].
func without(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for _, x := range spans {
		hole := text[x.from:x.to]
		b.WriteString(text[done:x.from])
		if strings.Trim(hole, "\n") == "" {
			b.WriteString(hole)
		} else {
			b.WriteString(Hidden)
		}
		done = x.to
	}
	b.WriteString(text[done:])
	return b.String()
}
