package grammar

import "testing"

// TestVerbs holds that each verb has its words, that the help has commands, and that what stands for a plan says which plans it means.
func TestVerbs(t *testing.T) {
	t.Parallel()
	for _, r := range table {
		if r.participle == "" || len(r.help) == 0 {
			t.Errorf("%s has no participle, or no help", r.verb)
		}
		if (r.plan == nil) != (r.is == nil) {
			t.Errorf("%s has one of plan and is, and needs both or none", r.verb)
		}
		if r.plan != nil && !r.verb.Means(Parse(typed(r))[0].Command.AsPlan().Options, r.verb == Retry) {
			t.Errorf("%s does not mean the plan that it stands for", r.verb)
		}
		for _, f := range r.help {
			if l := Parse(f.Typed); len(l) != 1 {
				t.Errorf("the help has %q, which is no command", f.Typed)
			}
		}
	}
}

// typed is a command of a verb that can be read.
func typed(r row) string {
	text := "lockstep " + string(r.verb)
	for _, a := range r.arguments {
		if a.check("a.b") == "" {
			text += " a.b"
		} else {
			text += " action.a.b"
		}
	}
	return text
}
