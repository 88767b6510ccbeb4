package simulation

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// migrating reports whether people move the state of a project to another key, as in one of nine aimed histories. Both keys have the same
// content, as if somebody copied it at each change, and each has a lock of its own.
func (s *simulation) migrating() bool {
	return s.length.aimed && !s.teaming() && s.inBucket() && (s.seed%11 == 2 || s.seed%11 == 8)
}

// anyKey are settings that let states be at any key, in such a history.
func (s *simulation) anyKey() string {
	if !s.migrating() {
		return ""
	}
	return "\nallow {\n  states = [\"s3://states/**\"]\n}\n"
}

const moved = "-moved"

// original is the key that a state had at first, and other the other one of its keys.
func original(key string) string { return strings.TrimSuffix(key, moved) }

func other(key string) string {
	if key == original(key) {
		return key + moved
	}
	return original(key)
}

// migrate is a change of one of two objects of the first project at a commit: every second time, one that moves its state, too.
func (s *simulation) migrate(at githubtest.Files) githubtest.Files {
	name := string(rune('a' + s.IntN(2)))
	edit := githubtest.Files{"p0/" + name + ".tf": fmt.Sprintf("# %s = %d\n", name, s.IntN(3))}
	for _, key := range []string{"p0", "p0" + moved} {
		if at["p0/backend.tf"] == backendAt(key) && s.IntN(2) == 0 {
			edit["p0/backend.tf"] = backendAt(other(key))
			s.note("the state moves from %s to %s", key, other(key))
			break
		}
	}
	return edit
}

// beside holds that no apply is under way at the other key of a state that an apply changes.
func (s *simulation) beside(a *applying) {
	st := s.states[other(stateOf(a.j))]
	if s.migrating() && st != nil && st.begun != nil && st.lock != nil && !st.lock.over() {
		s.bug("#%d changes %s while %s does, at the other key", a.j.Number, stateOf(a.j), st.lock.run)
	}
}
