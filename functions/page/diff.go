package page

import (
	"html/template"
	"strings"
)

// diffHTML returns the lines of a diff as HTML, each with a class that depends on the sign in its first column.
func diffHTML(text string) template.HTML { return marked(text, diffSign) }

// planHTML returns the lines of a plan as HTML, each with a class that depends on the sign before its first
// word.
func planHTML(text string) template.HTML { return marked(text, planSign) }

func marked(text string, sign func(string) string) template.HTML {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.TrimSuffix(line, "\n"), strings.HasSuffix(line, "\n")
		escaped := template.HTMLEscapeString(line)
		if s := sign(line); s != "" {
			escaped = `<span class="line-` + s + `">` + escaped + `</span>`
		}
		b.WriteString(escaped)
		if end {
			b.WriteByte('\n')
		}
	}
	return template.HTML(b.String())
}

// diffSign returns the class for a line of a diff. As in diff blocks on GitHub, "!" means a change. Lockstep
// also writes it for replacements.
func diffSign(line string) string {
	switch {
	case strings.HasPrefix(line, "-/+ "), strings.HasPrefix(line, "+/- "), strings.HasPrefix(line, "!"):
		return "change"
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	case strings.HasPrefix(line, "#"):
		return "note"
	case strings.HasPrefix(line, "@@"):
		return "hunk"
	}
	return ""
}

// planSign returns the class for a line of a plan, such as that for "+". The signs are Terraform's.
func planSign(line string) string {
	sign, rest, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	switch {
	case sign == "#":
		return "note"
	case rest == "":
		return ""
	case sign == "+" || sign == "<=":
		return "add"
	case sign == "-":
		return "del"
	case sign == "~" || sign == "-/+" || sign == "+/-":
		return "change"
	}
	return ""
}
