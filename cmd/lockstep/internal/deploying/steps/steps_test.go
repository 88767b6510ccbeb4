package steps

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
)

// facts are the words of testdata/lists.txt, and what each changes.
var facts = map[string]func(w *Wish, f *Found){
	"secrets":       func(_ *Wish, f *Found) { f.Key.There, f.Hook = true, Secret{There: true, Filled: true} },
	"empty-secrets": func(_ *Wish, f *Found) { f.Key.There, f.Hook.There = true, true },
	"dying-key":     func(_ *Wish, f *Found) { f.Key.Deleted = true },
	"further": func(w *Wish, _ *Found) {
		w.App, w.KeyName, w.HookName = "ghes", "ls/apps/ghes/github-app-key", "ls/apps/ghes/webhook-secret"
	},
	"app":             func(_ *Wish, f *Found) { f.App = App{ID: 7, Slug: "ls"} },
	"key":             func(_ *Wish, f *Found) { f.Key.Filled = true },
	"key-at-hand":     func(w *Wish, _ *Found) { w.KeyAtHand = true },
	"given-app":       func(w *Wish, _ *Found) { w.GivenApp = true },
	"own-account":     func(w *Wish, _ *Found) { w.Owner = "" },
	"bucket":          func(_ *Wish, f *Found) { f.Bucket = Bucket{There: true, Versioned: true, Closed: true} },
	"open-bucket":     func(_ *Wish, f *Found) { f.Bucket = Bucket{There: true, Versioned: true} },
	"foreign-bucket":  func(_ *Wish, f *Found) { f.Bucket = Bucket{There: true, Foreign: true} },
	"far-bucket":      func(_ *Wish, f *Found) { f.Bucket = Bucket{There: true, Elsewhere: "us-west-2"} },
	"code":            func(_ *Wish, f *Found) { f.Missing = nil },
	"stack":           func(_ *Wish, f *Found) { f.Stack = Stack{Status: "CREATE_COMPLETE", HookURL: "https://hook/"} },
	"reviewed":        func(_ *Wish, f *Found) { f.Stack.Status = "REVIEW_IN_PROGRESS" },
	"changing":        func(_ *Wish, f *Found) { f.Stack.Status = "UPDATE_IN_PROGRESS" },
	"fell":            func(_ *Wish, f *Found) { f.Stack.Status = "ROLLBACK_COMPLETE" },
	"fell-for-good":   func(_ *Wish, f *Found) { f.Stack.Status, f.Stack.Reason = "ROLLBACK_FAILED", "a bucket is not empty" },
	"stuck":           func(_ *Wish, f *Found) { f.Stack.Status, f.Stack.Reason = "UPDATE_ROLLBACK_FAILED", "no role" },
	"differs":         func(_ *Wish, f *Found) { f.Changes = []string{"tags", "the code of plan"} },
	"hook":            func(_ *Wish, f *Found) { f.HookURL = "https://hook/" },
	"other-hook":      func(_ *Wish, f *Found) { f.HookURL = "https://other/" },
	"arrived":         func(_ *Wish, f *Found) { f.Delivery = ArrivedDelivery },
	"failed":          func(_ *Wish, f *Found) { f.Delivery = FailedDelivery },
	"nothing-to-send": func(_ *Wish, f *Found) { f.Delivery = NothingToSend },
}

// TestLists compares the lists of testdata/lists.txt: words after ">", then the list, a step a line. With
// -update the file is written anew.
func TestLists(t *testing.T) {
	const file = "testdata/lists.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	used := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		words, ok := strings.CutPrefix(line, "> ")
		if !ok {
			if strings.HasPrefix(line, "#") {
				fmt.Fprintf(&got, "%s\n\n", line)
			}
			continue
		}
		w := Wish{Stack: "ls", KeyName: "ls/github-app-key", HookName: "ls/webhook-secret", Region: "eu-west-1", Bucket: "b", GitHub: "https://github.com/", Owner: "acme", Code: 5}
		f := Found{Missing: []string{"plan.zip"}}
		for word := range strings.FieldsSeq(words) {
			if facts[word] == nil {
				if word != "nothing" {
					t.Fatalf("there is no fact %q", word)
				}
				continue
			}
			used[word] = true
			facts[word](&w, &f)
		}
		fmt.Fprintf(&got, "> %s\n", words)
		list := List(w, f)
		for _, s := range list {
			fmt.Fprintf(&got, "%s %s: %s\n", s.State, s.Name, s.Text)
			if (s.State == Blocked) != (s.Remedy != "") {
				t.Errorf("%s: the step %s is %s, with the remedy %q", words, s.Name, s.State, s.Remedy)
			}
			if s.Remedy != "" {
				fmt.Fprintf(&got, "  %s\n", s.Remedy)
			}
		}
		next, _ := Next(list)
		fmt.Fprintf(&got, "next: %s\n\n", next.Name)
	}
	for word := range facts {
		if !used[word] {
			t.Errorf("no list has the fact %s", word)
		}
	}
	golden.File(t, file, got.String())
}
