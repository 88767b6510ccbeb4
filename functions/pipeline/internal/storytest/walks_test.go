package storytest

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
)

// TestWalks plays a plan and an apply, and holds that the files that ARCHITECTURE.md names for a webhook are at work in
// its order: each effect of the pipeline knows by which files it came about. Files without effects are left out, such as
// those of the gate.
func TestWalks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../cmd/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## The walk of a webhook")
	text, _, _ = strings.Cut(text, "| what happens beside that |")
	steps, applies, _ := strings.Cut(text, "`lockstep apply` takes the same road")
	plan := []string{"base main.tf resource \"x\" \"a\" {}", "pull alice b b.tf resource \"x\" \"b\" {}"}
	for name, walk := range map[string]struct {
		text  string
		steps []string
		files int // that have effects
	}{
		"plan":  {steps, plan, 6},
		"apply": {applies, append(plan, "say alice 1 lockstep apply"), 3},
	} {
		t.Run(name, func(t *testing.T) {
			effects := filesOf(t, walk.steps)
			at, files := 0, 0
			for _, m := range regexp.MustCompile("`(functions/pipeline/[^`]+)`").FindAllStringSubmatch(walk.text, -1) {
				place := m[1]
				if !anywhere(effects, place) {
					continue
				}
				files++
				for at < len(effects) && !strings.Contains(effects[at], place) {
					at++
				}
				if at == len(effects) {
					t.Fatalf("%s has no effect after those of the places that ARCHITECTURE.md names before it", place)
				}
			}
			if files < walk.files {
				t.Errorf("%d of the named places have effects, of %d", files, walk.files)
			}
		})
	}
}

func anywhere(effects []string, place string) bool {
	for _, x := range effects {
		if strings.Contains(x, place) {
			return true
		}
	}
	return false
}

// filesOf plays a story. It returns the files behind each of its effects.
func filesOf(t *testing.T, steps []string) (effects []string) {
	s := newStage(t)
	s.w.probe = func(memory.Effect) (v memory.Verdict) {
		var counters [128]uintptr
		frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
		var files strings.Builder
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if _, name, ok := strings.Cut(f.File, "/functions/pipeline/"); ok && !strings.HasPrefix(name, "internal/storytest/") {
				files.WriteString("functions/pipeline/" + name + "\n")
			}
		}
		effects = append(effects, files.String())
		return v
	}
	for _, line := range steps {
		verb, rest, _ := strings.Cut(line, " ")
		s.step(verb, rest)
	}
	s.tidy()
	return effects
}
