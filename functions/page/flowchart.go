package page

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// These are the limits of a picture. A larger one stays text.
const (
	maxBoxes = 60
	maxLines = 1000
	maxLabel = 44 // characters; a box has the whole label as its title
)

// These are measures in pixels, and the width of a character.
const (
	boxHeight, rowGap, columnGap, boxPadding, margin = 30, 14, 56, 10, 4
	charWidth                                        = 7.3
)

// A box is a node of a flowchart.
type box struct {
	label         string
	changed       bool
	column        int
	x, y, w       float64
	center        float64 // center of the boxes before this one, to sort a column
	before, after []int
}

// These are the lines of the flowcharts that package comment writes.
var (
	boxLine     = regexp.MustCompile(`^n(\d{1,3})\["([^"]*)"\]$`)
	arrowLine   = regexp.MustCompile(`^n(\d{1,3}) --> n(\d{1,3})$`)
	changedLine = regexp.MustCompile(`^class (n\d{1,3}(?:,n\d{1,3})*) changed$`)
	entity      = regexp.MustCompile(`#(\d{1,7});`)
)

// flowchart returns a flowchart in Mermaid's notation as SVG. ok is false if text has other lines than those that
// package comment writes. The caller then shows the text itself.
func flowchart(text string) (svg template.HTML, ok bool) {
	boxes, ok := boxesOf(text)
	if !ok {
		return "", false
	}
	place(boxes)
	var width, height float64
	for _, b := range boxes {
		width, height = max(width, b.x+b.w+margin), max(height, b.y+boxHeight+margin)
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="flowchart" role="img" aria-label="Flowchart of %d boxes" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">`, len(boxes), width, height, width, height)
	for _, b := range boxes {
		for _, to := range b.after {
			arrow(&out, b, boxes[to])
		}
	}
	for _, b := range boxes {
		class := "box"
		if b.changed {
			class = "box changed"
		}
		fmt.Fprintf(&out, `<g class="%s"><title>%s</title><rect x="%.0f" y="%.0f" width="%.0f" height="%d" rx="6"/><text x="%.0f" y="%.0f">%s</text></g>`,
			class, template.HTMLEscapeString(b.label), b.x, b.y, b.w, boxHeight, b.x+boxPadding, b.y+boxHeight/2+4, template.HTMLEscapeString(short(b.label)))
	}
	out.WriteString("</svg>\n")
	return template.HTML(out.String()), true
}

// arrow draws a line from the right side of one box to the left side of another, with a head.
func arrow(out *strings.Builder, from, to *box) {
	x1, y1, x2, y2 := from.x+from.w, from.y+boxHeight/2, to.x, to.y+boxHeight/2
	bend := max((x2-x1)/2, columnGap/2)
	fmt.Fprintf(out, `<path class="arrow" d="M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f"/><path class="head" d="M%.0f %.0fl-7 -4v8z"/>`,
		x1, y1, x1+bend, y1, x2-bend, y2, x2-6, y2, x2, y2)
}

// short returns a label that fits into a box.
func short(label string) string {
	if r := []rune(label); len(r) > maxLabel {
		return string(r[:maxLabel/2]) + "…" + string(r[len(r)-maxLabel/2+1:])
	}
	return label
}

// boxesOf reads a flowchart.
func boxesOf(text string) (boxes []*box, ok bool) {
	known := func(number string) int {
		if n, err := strconv.Atoi(number); err == nil && n < len(boxes) {
			return n
		}
		return -1
	}
	lines := 0
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		node, edge, class := boxLine.FindStringSubmatch(line), arrowLine.FindStringSubmatch(line), changedLine.FindStringSubmatch(line)
		switch {
		case i == 0:
			if line != "flowchart LR" {
				return nil, false
			}
		case node != nil && node[1] == strconv.Itoa(len(boxes)) && len(boxes) < maxBoxes:
			boxes = append(boxes, &box{label: entity.ReplaceAllStringFunc(node[2], func(code string) string {
				if n, _ := strconv.Atoi(code[1 : len(code)-1]); unicode.IsPrint(rune(n)) {
					return string(rune(n))
				}
				return "?"
			})})
		case edge != nil && lines < maxLines:
			lines++
			from, to := known(edge[1]), known(edge[2])
			if from < 0 || to < 0 {
				return nil, false
			}
			boxes[from].after, boxes[to].before = append(boxes[from].after, to), append(boxes[to].before, from)
		case class != nil:
			for name := range strings.SplitSeq(class[1], ",") {
				n := known(name[1:])
				if n < 0 {
					return nil, false
				}
				boxes[n].changed = true
			}
		case line == "classDef changed stroke-width:4px":
		default:
			return nil, false
		}
	}
	return boxes, len(boxes) > 0
}

// place puts each box to the right of all boxes that lead to it. In a cycle of boxes, this is not
// possible for all of them.
func place(boxes []*box) {
	for range boxes { // one pass for each box is enough for the longest way, and ends even if there is a cycle
		for _, b := range boxes {
			for _, to := range b.after {
				if boxes[to] != b && boxes[to].column <= b.column && b.column+1 < len(boxes) {
					boxes[to].column = b.column + 1
				}
			}
		}
	}
	columns := map[int][]*box{}
	last := 0
	for _, b := range boxes {
		columns[b.column] = append(columns[b.column], b)
		last = max(last, b.column)
	}
	x := float64(margin)
	for c := range last + 1 {
		column, width := columns[c], 0.0
		if len(column) == 0 { // of a circle
			continue
		}
		for _, b := range column {
			for _, from := range b.before {
				b.center += boxes[from].y / float64(len(b.before))
			}
			width = max(width, float64(len([]rune(short(b.label))))*charWidth+2*boxPadding)
		}
		slices.SortStableFunc(column, func(a, b *box) int { return cmp.Compare(a.center, b.center) })
		for i, b := range column {
			b.x, b.y, b.w = x, float64(margin+i*(boxHeight+rowGap)), width
		}
		x += width + columnGap
	}
}
