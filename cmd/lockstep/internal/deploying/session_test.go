package deploying

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestSession holds all that a person sees of a first deployment and of an update. The documentation quotes it.
func TestSession(t *testing.T) {
	s := newStage(t)
	var b strings.Builder
	play := func(answers []string, args ...string) {
		r := s.run(strings.Join(answers, "\n")+"\n", append(args, "-github="+s.site)...)
		if r.code != 0 {
			t.Fatalf("%+v", r)
		}
		b.WriteString("$ lockstep deploy")
		for _, x := range args {
			b.WriteString(" " + x)
		}
		b.WriteString("\n")
		parts := strings.Split(r.out, "Enter a value: ")
		for i, part := range parts {
			b.WriteString(part)
			if i < len(parts)-1 {
				b.WriteString("Enter a value: " + answers[i] + "\n")
			}
		}
	}
	play(nil, "-plan", "-organization=acme")
	play([]string{"acme", "acme/infra", "acme-states", "yes", "yes"})
	s.write("plan.zip", "the next version's code of plan")
	play([]string{"yes", "yes"}, "-parameter=LogDays=30")
	text := strings.ReplaceAll(b.String(), s.site, "https://github.com")
	text = strings.ReplaceAll(text, "https://github.example", "https://github.com")
	text = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\w+`).ReplaceAllString(text, "http://127.0.0.1:43675/H5L5EW6TCMUUGXIYWL2W445ZRQ")
	golden.File(t, "testdata/session.txt", text)
}
