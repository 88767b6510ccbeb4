package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
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
// rendertest.Recordings that are written differently on purpose, and why.
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

// recordedText returns the text of a recorded plan.
func recordedText(t *testing.T, r rendertest.Recording, p *Printer, schemas formats.Schemas) string {
	plan := r.Plan(t, schemas)
	if strings.Contains(string(r.Files["args"]), "-refresh-only") {
		plan.Mode = plans.RefreshOnlyMode
	}
	var b strings.Builder
	p.Plan(&b, plan, nil, schemas)
	return b.String()
}

func TestObjectsAsRecorded(t *testing.T) {
	t.Parallel()
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			text := recordedText(t, r, &Printer{}, schemas)
			recorded := string(r.Files["plan.txt"])
			want, got := byFirstLine(blocks(recorded)), byFirstLine(blocks(text))
			for first := range want {
				if otherwise[r.Name][first] != "" {
					continue
				}
				if d := cmp.Diff(strings.Split(want[first], "\n"), strings.Split(got[first], "\n")); d != "" {
					t.Errorf("%s (- recorded, + written):\n%s", first, d)
				}
			}
			for first := range got {
				if want[first] == "" && otherwise[r.Name][first] == "" {
					t.Errorf("not recorded: %s", first)
				}
			}
			if d := cmp.Diff(outputsPart(recorded), outputsPart(text)); d != "" && otherwise[r.Name]["outputs"] == "" {
				t.Errorf("outputs (- recorded, + written):\n%s", d)
			}
			compare(t, r.Name+".plan.txt", text)
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
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			var b strings.Builder
			(&Printer{}).State(&b, r.State(t), schemas)
			want, got := paragraphs(visible(string(r.Files["state.txt"]))), paragraphs(b.String())
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("state (- recorded, + written):\n%s", d)
			}
		})
	}
}
