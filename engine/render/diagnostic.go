package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

// Diagnostic returns d as text that ends with a line feed: the summary, the source around the place with the
// values of its references, and what to do. With colours, a vertical line at the left marks the whole text;
// without, an empty line comes first.
func (p *Printer) Diagnostic(d diags.Diagnostic, files map[string]*hcl.File) string {
	var b strings.Builder
	word, c := "Error: ", red
	if d.Severity == diags.Warning {
		word, c = "Warning: ", yellow
	}
	width := p.width() - 1
	if p.Color {
		width -= 2
		word = p.in(bold, p.in(c, word))
	}
	fmt.Fprintf(&b, "%s%s\n\n", word, p.in(bold, visible(d.Summary)))
	p.place(&b, formats.NewDiagnostic(d, files))
	if d.Detail != "" {
		b.WriteString(wrap(visible(d.Detail), width))
		b.WriteByte('\n')
	}
	text := strings.TrimRight(b.String(), "\n") + "\n"
	if !p.Color {
		return "\n" + text
	}
	return p.box(text, c)
}

// box draws a vertical line at the left of text.
func (p *Printer) box(text string, c style) string {
	var b strings.Builder
	b.WriteString(p.in(c, "╷") + "\n")
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(p.in(c, "│"))
		if line != "" {
			b.WriteByte(' ')
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	b.WriteString(p.in(c, "╵") + "\n")
	return b.String()
}

// place writes the object and the source that a diagnostic refers to.
func (p *Printer) place(b *strings.Builder, d formats.Diagnostic) {
	if d.Address != "" {
		fmt.Fprintf(b, "  with %s,\n", visible(d.Address))
	}
	switch {
	case d.Range == nil:
		if d.Address != "" {
			b.WriteByte('\n')
		}
		return
	case d.Snippet == nil:
		fmt.Fprintf(b, "  on %s line %d:\n  (source code not available)\n\n", visible(d.Range.Filename), d.Range.Start.Line)
		return
	}
	s := d.Snippet
	fmt.Fprintf(b, "  on %s line %d", visible(d.Range.Filename), d.Range.Start.Line)
	if s.Context != nil {
		fmt.Fprintf(b, ", in %s", visible(*s.Context))
	}
	b.WriteString(":\n")
	p.code(b, s)
	p.values(b, s)
	b.WriteByte('\n')
}

// Limits for snippets: generated files may have one line of megabytes, or very many lines, and nobody reads
// more. Before the highlight, a snippet keeps as much of a line as helps to find it.
const (
	maxColumns = 400
	maxBefore  = 100
	maxLines   = 60
)

// code writes the lines of a snippet, numbered, the highlight underlined.
func (p *Printer) code(b *strings.Builder, s *formats.Snippet) {
	start, end := s.HighlightStart, s.HighlightEnd
	first := 0 // offset of the current line in s.Code
	lines := strings.Split(s.Code, "\n")
	for i, line := range lines {
		from := max(0, min(start-first, len(line)))
		to := max(from, min(end-first, len(line)))
		first += len(line) + 1
		if i == maxLines/2 && len(lines) > maxLines {
			fmt.Fprintf(b, "   …: (%d lines left out)\n", len(lines)-maxLines)
		}
		if len(lines) <= maxLines || i < maxLines/2 || i >= len(lines)-maxLines/2 {
			before, marked, after := window(line, from, to)
			fmt.Fprintf(b, "%4d: %s%s%s\n", s.StartLine+i, visible(before), p.in(underline, visible(marked)), visible(after))
		}
	}
}

// window returns the parts of a line before, in and after its highlight line[from:to]. If the line is long,
// it returns only the part around the beginning of the highlight.
func window(line string, from, to int) (before, marked, after string) {
	if len(line) <= maxColumns {
		return line[:from], line[from:to], line[to:]
	}
	begin := max(0, from-maxBefore)
	finish := min(len(line), begin+maxColumns)
	for begin > 0 && !utf8.RuneStart(line[begin]) {
		begin--
	}
	for finish < len(line) && !utf8.RuneStart(line[finish]) {
		finish++
	}
	to = min(to, finish)
	before, marked, after = line[begin:from], line[from:to], line[to:finish]
	if begin > 0 {
		before = "… " + before
	}
	if finish < len(line) {
		after += " …"
	}
	return before, marked, after
}

// values writes the known values that a failing expression refers to.
func (p *Printer) values(b *strings.Builder, s *formats.Snippet) {
	call := s.Call
	if call != nil && call.Signature == nil {
		call = nil
	}
	if len(s.Values) == 0 && call == nil {
		return
	}
	rule := "    " + p.in(gray, "│") + " "
	b.WriteString("    " + p.in(gray, "├────────────────") + "\n")
	if call != nil {
		var params []string
		for _, x := range call.Signature.Params {
			params = append(params, x.Name)
		}
		if v := call.Signature.Variadic; v != nil {
			params = append(params, v.Name+"...")
		}
		fmt.Fprintf(b, "%swhile calling %s(%s)\n", rule, p.in(bold, visible(call.CalledAs)), strings.Join(params, ", "))
	}
	for _, v := range s.Values {
		statement, _, more := window(v.Statement, 0, 0)
		fmt.Fprintf(b, "%s%s %s\n", rule, p.in(bold, visible(v.Traversal)), visible(statement+more))
	}
}
