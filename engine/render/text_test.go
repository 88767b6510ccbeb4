package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// blocks splits the text of a plan into what it says of each object and each
// output, without the prose between.
func blocks(text string) []string {
	var out []string
	var current []string
	flush := func() {
		if len(current) > 0 {
			out = append(out, strings.Join(current, "\n"))
		}
		current = nil
	}
	in := false
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "  # "):
			if !in {
				flush()
			}
			in = true
			current = append(current, line)
		case line == "    }":
			current = append(current, line)
			flush()
			in = false
		case in:
			current = append(current, line)
		}
	}
	flush()
	return out
}

// outputsPart returns what a plan's text says of outputs.
func outputsPart(text string) string {
	_, after, _ := strings.Cut(text, "Changes to Outputs:\n")
	after, _, _ = strings.Cut(after, "\n\n")
	return strings.TrimRight(after, "\n")
}

// otherwise are the objects (by the first line of their text) and the outputs of
// recordings that are written differently on purpose, and why.
var otherwise = map[string]map[string]string{
	"dynamic-2": {
		"  # lab_versioned.v will be updated in-place": "control characters are escaped",
		"  # terraform_data.d must be replaced":        "what forces replacement is noted where the type changes, too",
	},
	"drift-2": {"  # lab_shape.s will be updated in-place": "as in rotated-2"},
	"drift-3": {"  # lab_shape.s has changed": "as in rotated-2"},
	"rotated-2": {
		"  # lab_shape.s will be updated in-place":   "a list that lost its first element and got another at the end has two changes, not one for each element",
		"  # lab_thing.rot will be updated in-place": "the same in JSON",
		"outputs": "the same in outputs",
	},
	"rotated-3": {
		"  # lab_thing.rot will be updated in-place": "as before",
		"outputs": "as before; and lists that changed are paired like objects",
	},
	"things-2": {
		"  # lab_thing.forget will no longer be managed, but will not be destroyed": "aligned with everything else",
	},
}

// byFirstLine indexes texts by their first lines.
func byFirstLine(texts []string) map[string]string {
	out := map[string]string{}
	for _, x := range texts {
		first, _, _ := strings.Cut(x, "\n")
		out[first] = x
	}
	return out
}

// planText returns the text of a recorded plan.
func (r recording) planText(t *testing.T, p *Printer, schemas Schemas) string {
	plan := r.plan(t, schemas)
	if strings.Contains(string(r.files["args"]), "-refresh-only") {
		plan.Mode = plans.RefreshOnlyMode
	}
	var b strings.Builder
	p.Plan(&b, plan, nil, schemas)
	return b.String()
}

func TestObjectsAsRecorded(t *testing.T) {
	t.Parallel()
	schemas := recordedSchemas(t)
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) {
			text := r.planText(t, &Printer{}, schemas)
			recorded := string(r.files["plan.txt"])
			want, got := byFirstLine(blocks(recorded)), byFirstLine(blocks(text))
			for first := range want {
				if otherwise[r.name][first] != "" {
					continue
				}
				if d := cmp.Diff(strings.Split(want[first], "\n"), strings.Split(got[first], "\n")); d != "" {
					t.Errorf("%s (- recorded, + written):\n%s", first, d)
				}
			}
			for first := range got {
				if want[first] == "" && otherwise[r.name][first] == "" {
					t.Errorf("not recorded: %s", first)
				}
			}
			if d := cmp.Diff(outputsPart(recorded), outputsPart(text)); d != "" && otherwise[r.name]["outputs"] == "" {
				t.Errorf("outputs (- recorded, + written):\n%s", d)
			}
			golden(t, r.name+".plan.txt", text)
		})
	}
}

// paragraphs returns the lines of text, with at most one empty line between others.
func paragraphs(text string) []string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.Split(strings.TrimSpace(text), "\n")
}

func TestStateAsRecorded(t *testing.T) {
	t.Parallel()
	schemas := recordedSchemas(t)
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) {
			var b strings.Builder
			(&Printer{}).State(&b, r.state(t), schemas)
			want, got := paragraphs(visible(string(r.files["state.txt"]))), paragraphs(b.String())
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("state (- recorded, + written):\n%s", d)
			}
		})
	}
}
