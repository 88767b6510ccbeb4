package deploying

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// stepFacts are the words of testdata/lists.txt, and what each changes.
var stepFacts = map[string]func(w *deployWish, f *deploymentFound){
	"secrets": func(_ *deployWish, f *deploymentFound) {
		f.Key.There, f.Hook = true, secretFound{There: true, Filled: true}
	},
	"empty-secrets": func(_ *deployWish, f *deploymentFound) { f.Key.There, f.Hook.There = true, true },
	"dying-key":     func(_ *deployWish, f *deploymentFound) { f.Key.Deleted = true },
	"further": func(w *deployWish, _ *deploymentFound) {
		w.App, w.KeyName, w.HookName = "ghes", "ls/apps/ghes/github-app-key", "ls/apps/ghes/webhook-secret"
	},
	"app":         func(_ *deployWish, f *deploymentFound) { f.App = appFound{ID: 7, Slug: "ls"} },
	"key":         func(_ *deployWish, f *deploymentFound) { f.Key.Filled = true },
	"key-at-hand": func(w *deployWish, _ *deploymentFound) { w.KeyAtHand = true },
	"given-app":   func(w *deployWish, _ *deploymentFound) { w.GivenApp = true },
	"own-account": func(w *deployWish, _ *deploymentFound) { w.Owner = "" },
	"bucket": func(_ *deployWish, f *deploymentFound) {
		f.Bucket = bucketFound{There: true, Versioned: true, Closed: true}
	},
	"open-bucket":    func(_ *deployWish, f *deploymentFound) { f.Bucket = bucketFound{There: true, Versioned: true} },
	"foreign-bucket": func(_ *deployWish, f *deploymentFound) { f.Bucket = bucketFound{There: true, Foreign: true} },
	"far-bucket":     func(_ *deployWish, f *deploymentFound) { f.Bucket = bucketFound{There: true, Elsewhere: "us-west-2"} },
	"code":           func(_ *deployWish, f *deploymentFound) { f.Missing = nil },
	"stack": func(_ *deployWish, f *deploymentFound) {
		f.Stack = stackFound{Status: "CREATE_COMPLETE", HookURL: "https://hook/"}
	},
	"reviewed": func(_ *deployWish, f *deploymentFound) { f.Stack.Status = "REVIEW_IN_PROGRESS" },
	"changing": func(_ *deployWish, f *deploymentFound) { f.Stack.Status = "UPDATE_IN_PROGRESS" },
	"fell":     func(_ *deployWish, f *deploymentFound) { f.Stack.Status = "ROLLBACK_COMPLETE" },
	"fell-for-good": func(_ *deployWish, f *deploymentFound) {
		f.Stack.Status, f.Stack.Reason = "ROLLBACK_FAILED", "a bucket is not empty"
	},
	"stuck": func(_ *deployWish, f *deploymentFound) {
		f.Stack.Status, f.Stack.Reason = "UPDATE_ROLLBACK_FAILED", "no role"
	},
	"differs":         func(_ *deployWish, f *deploymentFound) { f.Changes = []string{"tags", "the code of plan"} },
	"hook":            func(_ *deployWish, f *deploymentFound) { f.HookURL = "https://hook/" },
	"other-hook":      func(_ *deployWish, f *deploymentFound) { f.HookURL = "https://other/" },
	"arrived":         func(_ *deployWish, f *deploymentFound) { f.Delivery = arrivedDelivery },
	"failed":          func(_ *deployWish, f *deploymentFound) { f.Delivery = failedDelivery },
	"nothing-to-send": func(_ *deployWish, f *deploymentFound) { f.Delivery = nothingToSend },
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
		w := deployWish{Stack: "ls", KeyName: "ls/github-app-key", HookName: "ls/webhook-secret", Region: "eu-west-1", Bucket: "b", GitHub: "https://github.com/", Owner: "acme", Code: 5}
		f := deploymentFound{Missing: []string{"plan.zip"}}
		for word := range strings.FieldsSeq(words) {
			if stepFacts[word] == nil {
				if word != "nothing" {
					t.Fatalf("there is no fact %q", word)
				}
				continue
			}
			used[word] = true
			stepFacts[word](&w, &f)
		}
		fmt.Fprintf(&got, "> %s\n", words)
		list := listSteps(w, f)
		for _, s := range list {
			fmt.Fprintf(&got, "%s %s: %s\n", s.State, s.Name, s.Text)
			if (s.State == stepBlocked) != (s.Remedy != "") {
				t.Errorf("%s: the step %s is %s, with the remedy %q", words, s.Name, s.State, s.Remedy)
			}
			if s.Remedy != "" {
				fmt.Fprintf(&got, "  %s\n", s.Remedy)
			}
		}
		next, _ := nextStep(list)
		fmt.Fprintf(&got, "next: %s\n\n", next.Name)
	}
	for word := range stepFacts {
		if !used[word] {
			t.Errorf("no list has the fact %s", word)
		}
	}
	golden.File(t, file, got.String())
}
