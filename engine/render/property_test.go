package render

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
)

// texts are all the texts that people see of a plan and a state.
func texts(p *plans.Plan, r rendertest.Random) map[string]string {
	out := map[string]string{"markdown": PlanMarkdown(p, nil)}
	for name, printer := range map[string]*Printer{"plain": {}, "colour": {Color: true}} {
		var plan, state, outputs strings.Builder
		printer.Plan(&plan, p, nil, nil)
		s := rendertest.StateOf(p)
		printer.State(&state, s, nil)
		for _, c := range p.Changes {
			printer.Object(&state, s, c.Addr.Instance, nil)
		}
		printer.Outputs(&outputs, s)
		out[name+" plan"], out[name+" state"], out[name+" outputs"] = plan.String(), state.String(), outputs.String()
	}
	return out
}

func TestNoSensitiveValueIsShown(t *testing.T) {
	t.Parallel()
	rendertest.EachPlan(t, func(t *testing.T, seed int64, r rendertest.Random, p *plans.Plan) {
		for name, text := range texts(p, r) {
			if i := strings.Index(text, rendertest.Secret); i >= 0 {
				t.Errorf("seed %d: %s shows a sensitive value: ...%s", seed, name, text[max(0, i-300):i+20])
			}
		}
		var messages []Message
		for _, c := range p.Changes {
			messages = append(messages, DriftMessage(c))
			if m, ok := PlannedChangeMessage(c); ok {
				messages = append(messages, m)
			}
		}
		messages = append(messages, PlannedOutputsMessage(p), OutputsMessage(rendertest.StateOf(p)))
		src, err := json.Marshal(messages)
		if err != nil || strings.Contains(string(src), rendertest.Secret) {
			t.Errorf("seed %d: messages show a sensitive value (or %v): %s", seed, err, src)
		}
	})
}

func TestTextHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	rendertest.EachPlan(t, func(t *testing.T, seed int64, r rendertest.Random, p *plans.Plan) {
		for name, text := range texts(p, r) {
			if strings.HasPrefix(name, "colour") {
				continue
			}
			for _, c := range text {
				if c != '\n' && c != '\t' && (unicode.IsControl(c) || c == '\u202e' || c == '\u2028') || !utf8.ValidString(text) {
					t.Fatalf("seed %d: %s has %q", seed, name, c)
				}
			}
		}
	})
}

// outsideFences returns the lines of Markdown that are not in a code block, and
// whether the last one is closed.
func outsideFences(md string) (lines []string, closed bool) {
	fence := ""
	for _, line := range strings.Split(md, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		run := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case len(line)-len(trimmed) > 3:
		case fence == "" && len(run) >= 3:
			fence = run
			continue
		case fence != "" && len(run) >= len(fence) && strings.TrimSpace(strings.TrimLeft(trimmed, "`")) == "":
			fence = ""
			continue
		}
		if fence == "" {
			lines = append(lines, line)
		}
	}
	return lines, fence == ""
}

// outsideCode takes code spans out of a line.
func outsideCode(line string) string {
	var b strings.Builder
	for line != "" {
		i := strings.IndexByte(line, '`')
		if i < 0 {
			break
		}
		n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		fence := line[i : i+n]
		rest := line[i+n:]
		end := -1
		for j := 0; j < len(rest); {
			if rest[j] != '`' {
				j++
				continue
			}
			m := len(rest[j:]) - len(strings.TrimLeft(rest[j:], "`"))
			if m == len(fence) {
				end = j
				break
			}
			j += m
		}
		if end < 0 {
			break
		}
		b.WriteString(line[:i])
		line = rest[end+n:]
	}
	return b.String() + line
}

func TestMarkdownIsInert(t *testing.T) {
	t.Parallel()
	rendertest.EachPlan(t, func(t *testing.T, seed int64, r rendertest.Random, p *plans.Plan) {
		md := PlanMarkdown(p, nil)
		lines, closed := outsideFences(md)
		if !closed {
			t.Fatalf("seed %d: a code block is open at the end:\n%s", seed, md)
		}
		for i := range lines {
			lines[i] = outsideCode(lines[i])
		}
		text := strings.Join(lines, "\n")
		if strings.Count(text, "<details") != strings.Count(text, "</details>") {
			t.Fatalf("seed %d: folds do not match:\n%s", seed, md)
		}
		for _, bad := range lines {
			if strings.ContainsAny(bad, "@#") || strings.Contains(bad, "http") || strings.Contains(bad, "<!--") {
				t.Fatalf("seed %d: not inert: %s", seed, bad)
			}
		}
	})
}
