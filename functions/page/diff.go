package page

import (
	"html/template"
	"strings"
)

// diffHTML marks the lines of a diff by the sign in their first column.
func diffHTML(text string) template.HTML { return marked(text, diffSign) }

// planHTML marks the lines of a plan by the sign before their first word.
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

// diffSign returns the kind of a line in a diff. As in GitHub's diff blocks, "!" is a change; here it also
// marks replacements.
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

// planSign returns the kind of a line in a plan, from the signs of Terraform's plans.
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
