package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// crowded returns the comment of a status whose plans do not fit into limit bytes.
//   - Every project keeps its row in the table; equal rows become one.
//   - Every error keeps its first line. Every requirement that is not met is shown.
//   - The plans share the remaining bytes; short plans are not cut.
//   - If there is not enough room for all plans, those that destroy objects come first, and the rest are only
//     counted.
func (s Status) crowded(all []section, limit int) string {
	if len(s.rows) > limit/4 {
		s.rows = tableHead + groupedRows(s.Projects, limit/2)
	}
	s.notes = 0
	for room := limit / 4; s.notes < len(s.Notes); s.notes++ {
		if room -= len(s.Notes[s.notes]) + len("\n\n"); room < 0 {
			break
		}
	}
	texts := make([]string, 0, len(all)+2)
	if missing := s.missing(limit / 8); missing != "" {
		texts = append(texts, "\n"+missing+"\n")
	}
	all = slices.DeleteFunc(slices.Clone(all), func(x section) bool { return x.projects[0].Body == "" && len(x.projects[0].Steps) == 0 })
	steps := stepRoom(all, limit)
	if steps < markdown.Useful {
		texts = append(texts, s.stepsTogether(limit/8))
	}
	room := limit - len(s.render(texts))
	for i := range all {
		all[i].crowded, all[i].room = true, steps
		room -= all[i].frame()
	}
	level := levelOf(all, room)
	scarce := level < markdown.Useful
	if scarce {
		var failures string
		failures, all, room = reasonsFirst(all, room)
		texts = append(texts, failures)
	}
	left := 0 // projects
	var plans []string
	for _, x := range all {
		share := level
		if scarce {
			share = min(markdown.Useful, len(x.projects[0].Body))
		}
		text := x.cut(share)
		if text == "" && x.projects[0].Body == "" {
			continue // only steps
		}
		if scarce && len(text) > room || text == "" {
			left += len(x.projects)
			continue
		}
		room -= len(text)
		plans = append(plans, text)
	}
	texts = append(texts, plans...)
	if left > 0 {
		texts = append(texts, leftOut(left))
	}
	return s.render(texts)
}

// stepRoom returns how many bytes the steps of one section may take in a crowded comment.
func stepRoom(all []section, limit int) int {
	with := 0
	for _, x := range all {
		if len(x.projects[0].Steps) > 0 {
			with++
		}
	}
	if room := limit / 6 / max(with, 1); room >= markdown.Useful {
		return room
	}
	return 1 // none fits
}

// leftOut returns a sentence that says for how many projects no plan is shown.
func leftOut(projects int) string {
	return fmt.Sprintf("\n*The plans of %d more projects do not fit here: see the check of each project.*\n", projects)
}

// frame returns the size of the section without its body, in bytes.
func (x section) frame() int { return len(x.markdown("x")) }

// cut returns the section with at most limit bytes of its body; "" if the limit is too low.
func (x section) cut(limit int) string {
	p := x.projects[0]
	where := p.where()
	if p.Whole != "" {
		where = "" // the section already tells
	}
	return x.markdown(markdown.CutTo(p.Body, max(limit, 0), where))
}

// levelOf returns the maximum number of bytes for one section's body, if all bodies together have room bytes:
// see [markdown.Level].
func levelOf(all []section, room int) int {
	needs := make([]int, len(all))
	for i, x := range all {
		needs[i] = len(x.projects[0].Body)
	}
	return markdown.Level(room, needs)
}

// reasonsFirst returns the sections of projects that failed, as one text, failures. Each has as much of its
// errors as fits, but at least the first line of its first error. others are the remaining sections, those that
// destroy objects first. left is the number of bytes that are left for them.
func reasonsFirst(all []section, room int) (failures string, others []section, left int) {
	var failed []section
	for _, x := range all {
		if x.projects[0].ranked().Means() == Wrong {
			failed = append(failed, x)
		} else {
			others = append(others, x)
		}
	}
	slices.SortStableFunc(others, func(a, b section) int {
		return cmp.Compare(b.projects[0].Counts.Destroy, a.projects[0].Counts.Destroy)
	})
	for _, x := range others {
		room += x.frame()
	}
	room -= len(leftOut(1 << 20))
	if len(failed) == 0 {
		return "", others, room
	}
	var b strings.Builder
	if level := levelOf(failed, room); level >= markdown.Useful {
		for _, x := range failed {
			b.WriteString(x.cut(level))
		}
		return b.String(), others, room + sizeOf(failed) - b.Len()
	}
	room += sizeOf(failed)
	b.WriteString("\n#### Failed\n\n")
	more := 0
	for _, x := range failed {
		var names []string
		for _, p := range x.projects {
			names = append(names, p.Label())
		}
		line := fmt.Sprintf("- %s: %s\n", headed(names), markdown.Code(firstError(x.projects[0].Body)))
		if b.Len()+len(line)+len(leftOut(1<<20)) > room {
			more += len(x.projects)
			continue
		}
		b.WriteString(line)
	}
	if more > 0 {
		fmt.Fprintf(&b, "- *%d more projects failed: see the check of each project.*\n", more)
	}
	return b.String(), others, room - b.Len()
}

// sizeOf returns the size of all sections together, without their bodies, in bytes.
func sizeOf(all []section) (n int) {
	for _, x := range all {
		n += x.frame()
	}
	return n
}

// maxHeadline is the maximum length, in bytes, of the first line of an error in a list.
const maxHeadline = 120

// firstError returns the first line of the first error in body. If there is no error, it returns the first line
// with a letter.
func firstError(body string) string {
	text := markdown.FirstError(body)
	for line := range strings.Lines(body) {
		if text == "" && strings.ContainsFunc(line, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
			text = line
		}
	}
	if text = strings.TrimSpace(text); len(text) > maxHeadline {
		text = strings.ToValidUTF8(text[:maxHeadline], "") + "…"
	}
	return text
}

// table returns the table of the projects in at most limit bytes, first those that need attention. Each project
// has its own row if there is room. If more than fewAlike projects share one of the sections and have equal rows,
// they have one row.
func (s Status) table(sections []section, limit int) string {
	projects := slices.Clone(s.Projects)
	slices.SortStableFunc(projects, ByTrouble)
	var b strings.Builder
	b.WriteString(tableHead)
	shared := map[string][]string{} // labels by the first of them
	done := map[string]bool{}       // the others
	for _, x := range sections {
		rows := map[string][]string{}
		for _, p := range x.projects {
			rows[p.row("")] = append(rows[p.row("")], p.Label())
		}
		for _, labels := range rows {
			if len(labels) <= fewAlike {
				continue
			}
			shared[labels[0]] = labels
			for _, l := range labels[1:] {
				done[l] = true
			}
		}
	}
	for _, p := range projects {
		switch labels := shared[p.Label()]; {
		case done[p.Label()]:
		case labels != nil:
			b.WriteString(p.row(fewOf(labels)))
		default:
			b.WriteString(p.row(markdown.Code(p.Label())))
		}
	}
	if b.Len() > limit {
		return tableHead + groupedRows(projects, limit-len(tableHead))
	}
	return b.String()
}

// maxInRow is the maximum number of projects that a row of the table names.
const maxInRow = 3

// fewOf returns the first names of a list for a row, and how many more there are. The section below the
// table names all.
func fewOf(names []string) string {
	if len(names) <= maxInRow+1 {
		return markdown.List(names)
	}
	return fmt.Sprintf("%s and %d more", markdown.List(names[:maxInRow]), len(names)-maxInRow)
}

// groupedRows returns the rows of the table in at most limit bytes. Projects with the same plan and the same
// standing share one row.
func groupedRows(projects []ProjectStatus, limit int) string {
	var rows []ProjectStatus // the first of each
	names := map[string][]string{}
	for _, p := range projects {
		key := p.row("")
		if names[key] == nil {
			rows = append(rows, p)
		}
		names[key] = append(names[key], markdown.Code(p.Label()))
	}
	var b strings.Builder
	left := 0
	for _, p := range rows {
		list := names[p.row("")]
		fit := 0
		for room := limit - b.Len() - len(p.row("")); fit < len(list); fit++ {
			if room -= len(list[fit]) + len(", "); room < 0 {
				break
			}
		}
		left += len(list) - fit
		if fit > 0 {
			b.WriteString(p.row(strings.Join(list[:fit], ", ")))
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n*%d more projects do not fit here: see the check of each project.*\n", left)
	}
	return b.String()
}
