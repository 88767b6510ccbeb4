package runs

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// TestSlots holds that a project keeps its check run while others come and go.
func TestSlots(t *testing.T) {
	var all []Run
	push := func(names ...string) map[string]Shared {
		var targets []string
		for _, name := range names {
			targets = append(targets, ID{Project: name, Workspace: "default"}.Target())
		}
		slots, out := Slots(all, targets), map[string]Shared{}
		for i, name := range names {
			at := slices.IndexFunc(all, func(r Run) bool { return r.Project == name })
			if at < 0 {
				all, at = append(all, Run{ID: ID{Project: name, Workspace: "default"}, Slot: slots[targets[i]]}), len(all)
			}
			out[name] = SharedBy(all[at].Slot, 2, 3)
		}
		return out
	}
	want := func(got map[string]Shared, text string) {
		t.Helper()
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(got)) {
			parts = append(parts, fmt.Sprintf("%s:%d", name, got[name].Number))
		}
		if is := strings.Join(parts, " "); is != text {
			t.Errorf("%s, want %s", is, text)
		}
	}
	all = append(all, Run{ID: ID{Project: "old", Workspace: "default"}}) // of an earlier version
	want(push("old", "a", "b", "c", "d", "e"), "a:0 b:1 c:1 d:1 e:2 old:0")
	want(push("c", "f", "e"), "c:1 e:2 f:2")
	want(push("a", "b", "c", "d", "e", "f", "g", "old"), "a:0 b:1 c:1 d:1 e:2 f:2 g:2 old:0")
	if got, want := SharedBy(151, 50, 100), (Shared{2, 151, 250}); got != want {
		t.Errorf("%+v", got)
	}
}

// A sharer is a process that changes a project, and then writes the check run which the project shares with others: see
// report.Reporter.PutCheckNow. A process that is only a writer changes none.
type sharer struct {
	target string
	value  int
	lazy   bool // it leaves the writing to the next status comment
	step   int
	read   map[string]int
	id     int
}

// A sharedBoard is the record of a shared check run, its projects, and the check runs on GitHub, the oldest first.
type sharedBoard struct {
	record   SharedRecord
	projects map[string]int
	shown    []map[string]int
	now      time.Time
}

// do takes a process's next step, and reports whether it was the last one.
func (b *sharedBoard) do(w *sharer) bool {
	w.step++
	switch w.step {
	case 1:
		if w.target != "" {
			b.projects[w.target] = max(b.projects[w.target], w.value)
		}
	case 2:
		if w.target != "" && !b.record.Owed() {
			b.record = b.record.Owe()
		}
		return w.lazy
	case 3:
		b.record = b.record.Begin(b.now)
		w.id = int(b.record.ID)
		if !b.record.Alone {
			w.id = 0
		}
	case 4:
		w.read = maps.Clone(b.projects)
	case 5: // looks for one, or changes the one that it knows
		if w.id == 0 {
			w.id = len(b.shown)
		}
		if w.id != 0 {
			b.shown[w.id-1] = w.read
			w.step++
		}
	case 6: // makes one, which those who have looked before do not see
		b.shown = append(b.shown, w.read)
		w.id = len(b.shown)
	case 7:
		again := false
		if b.record, again = b.record.End(int64(w.id), fmt.Sprint(w.read)); !again {
			return true
		}
		w.step = 2
	}
	return false
}

// TestSharedWritten plays processes that change projects of a shared check run and write it, in any order of their steps.
// Some die, and the queue starts them again. It holds that the check run shows all projects as they are, or that its record
// says that it has to be written, and that another process then does so.
func TestSharedWritten(t *testing.T) {
	twins, owed := 0, 0
	for seed := range uint64(50_000) {
		random := rand.New(rand.NewPCG(seed, 2))
		b := sharedBoard{projects: map[string]int{}, now: time.Unix(0, 0)}
		var all []*sharer
		for i := range 2 + random.IntN(3) {
			all = append(all, &sharer{target: string(rune('a' + random.IntN(3))), value: i + 1, lazy: i > 0 && random.IntN(3) == 0})
		}
		deaths := random.IntN(3)
		for steps := 0; len(all) > 0; steps++ {
			if steps > 1000 {
				t.Fatalf("seed %d: they write for ever", seed)
			}
			i := random.IntN(len(all))
			switch {
			case deaths > 0 && random.IntN(10) == 0:
				deaths--
				all[i] = &sharer{target: all[i].target, value: all[i].value, lazy: all[i].lazy}
			case b.do(all[i]):
				all = slices.Delete(all, i, i+1)
			}
		}
		if len(b.shown) > 1 {
			twins++
		}
		for tries := 0; b.record.Written == "" && tries < 3; tries++ { // the next status comments
			owed++
			b.now = b.now.Add(deadWriter + time.Second)
			for w := new(sharer); !b.do(w); {
			}
		}
		if last := b.shown[len(b.shown)-1]; b.record.Written == "" || !maps.Equal(last, b.projects) {
			t.Fatalf("seed %d: people see %v of %v (%+v)", seed, last, b.projects, b.record)
		}
	}
	if twins < 1000 || owed < 1000 {
		t.Errorf("only %d of the plays had two check runs, and %d had to be written again", twins, owed)
	}
}

// TestProofShown holds when a shared check run on GitHub takes over the plan of a record. Somebody may have written the record.
func TestProofShown(t *testing.T) {
	seal := func(text []byte) string { return HashOf(append([]byte("key"), text...)) }
	pull := pipeline.Pull{Repo: github.Repo{ID: 7}, Number: 12}
	hash := func(c string) string { return strings.Repeat(c, 64) }
	made := func(plan, try int, h, again string) Proof {
		return ProofOf(Run{ID: ID{Pull: pull, Project: "a", Workspace: "default"}, Spec: Spec{Head: "head"}, Artifacts: Artifacts{Begun: plan}, Asked: Asked{Try: try}}, h, again, seal)
	}
	changed := func(p Proof, change func(*Proof)) Proof { change(&p); return p }
	none := markdown.Proof{}
	one, two := markdown.Proof{Plan: 1, Hash: hash("a")}, markdown.Proof{Plan: 2, Hash: hash("b")}
	for name, test := range map[string]struct {
		record      Proof
		shown, want markdown.Proof
	}{
		"first":                 {made(1, 0, hash("a"), ""), none, one},
		"again":                 {made(1, 0, hash("a"), ""), one, one},
		"newer":                 {made(2, 0, hash("b"), ""), one, two},
		"applied instead":       {made(1, 1, hash("a"), hash("c")), one, markdown.Proof{Plan: 1, Try: 1, Hash: hash("a"), Again: hash("c")}},
		"an old record":         {made(1, 0, hash("a"), ""), two, two},
		"no seal":               {Proof{Plan: 3, Hash: hash("c")}, two, two},
		"another hash":          {changed(made(3, 0, hash("c"), ""), func(p *Proof) { p.Hash = hash("d") }), two, two},
		"another number":        {changed(made(1, 0, hash("a"), ""), func(p *Proof) { p.Plan = 3 }), two, two},
		"another plan applied":  {changed(made(3, 0, hash("c"), ""), func(p *Proof) { p.Again = hash("d") }), two, two},
		"no plan":               {Proof{Plan: 2}, one, markdown.Proof{Plan: 2}},
		"no plan, then the old": {made(1, 0, hash("a"), ""), markdown.Proof{Plan: 2}, markdown.Proof{Plan: 2}},
		"no plan, old":          {Proof{Plan: 1}, two, markdown.Proof{Plan: 2}},
		"no plan, then a new":   {made(3, 0, hash("c"), ""), markdown.Proof{Plan: 2}, markdown.Proof{Plan: 3, Hash: hash("c")}},
		"far too high":          {Proof{Plan: 1 << 40}, one, markdown.Proof{Plan: 999_999_999}},
	} {
		if got := test.record.Shown(test.record.IsSealed(pull, "head", "a@default", seal), test.shown); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
	p := made(1, 0, hash("a"), "")
	other := pull
	other.Number = 13
	for name, sealed := range map[string]bool{
		"another head": p.IsSealed(pull, "other", "a@default", seal), "another project": p.IsSealed(pull, "head", "b@default", seal), "another pull request": p.IsSealed(other, "head", "a@default", seal),
	} {
		if sealed {
			t.Errorf("the seal is accepted for %s", name)
		}
	}
}

// TestConcludeShared holds that a shared check run has the worst conclusion of its projects.
func TestConcludeShared(t *testing.T) {
	of := func(words string) (out []SharedProject) {
		for word := range strings.FieldsSeq(words) {
			p := SharedProject{Status: github.CheckCompleted, Conclusion: github.Conclusion(word)}
			if word == "queued" || word == "in_progress" {
				p = SharedProject{Status: github.CheckStatus(word)}
			}
			out = append(out, p)
		}
		return out
	}
	for _, test := range []struct {
		projects string
		waiting  int
		want     string
	}{
		{"success success", 0, "completed success"},
		{"success failure action_required", 0, "completed failure"},
		{"success action_required cancelled", 0, "completed action_required"},
		{"success cancelled", 0, "completed cancelled"},
		{"success stale", 0, "completed failure"},
		{"failure queued", 0, "in_progress "},
		{"queued queued", 0, "queued "},
		{"queued in_progress", 0, "in_progress "},
		{"success success", 1, "in_progress "},
	} {
		status, conclusion := ConcludeShared(of(test.projects), test.waiting)
		if got := fmt.Sprintf("%s %s", status, conclusion); got != test.want {
			t.Errorf("%s, %d waiting: %s, want %s", test.projects, test.waiting, got, test.want)
		}
	}
}
