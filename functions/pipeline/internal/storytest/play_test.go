package storytest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/internal/golden"
)

// TestStories plays all stories.
func TestStories(t *testing.T) {
	for _, name := range []string{"plans", "applies", "commands", "sealing", "webhooks", "rounds", "waves", "outputs"} {
		file := "testdata/" + name + ".stories"
		text, err := told.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stories := strings.Split(strings.TrimSpace(string(text)), "\n\n")
		// The stories of a file run one after the other: they take milliseconds.
		for i, paragraph := range stories {
			title, steps, want := read(paragraph)
			if title == "" {
				continue
			}
			t.Run(name+"/"+title, func(t *testing.T) {
				got := tell(t, steps)
				if golden.Updating() {
					stories[i] = strings.Join(append(kept(paragraph), got...), "\n")
				} else if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got, -update writes it anew)\n%s", diff)
				}
			})
		}
		golden.Update(t, file, strings.Join(stories, "\n\n")+"\n")
	}
}

// kept returns the lines of a story without its trace.
func kept(paragraph string) []string {
	return slices.DeleteFunc(strings.Split(paragraph, "\n"), func(l string) bool { return strings.HasPrefix(l, traced) })
}
