package shadow_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
)

// TestLimits reads comments that are too many and too long, and plans with too many objects. What is beyond a limit is left
// out, and a plan that is cut like this is not compared as if it were whole.
func TestLimits(t *testing.T) {
	t.Parallel()
	source := shadow.Source{Tool: shadow.Atlantis, Author: "bot[bot]"}
	plan := func(text string) string {
		return "Ran Plan for dir: `net` workspace: `default`\n\n```diff\n" + text + "```\n"
	}
	many := strings.Repeat("  # terraform_data.a[1] will be created\n", 4000) + "Plan: 4000 to add, 0 to change, 0 to destroy.\n"
	claims := source.Claims([]shadow.Comment{{ID: 1, Author: "bot[bot]", Body: plan(many)}}, time.Time{})
	if len(claims) != 1 || len(claims[0].Changes) != 2000 || !claims[0].Cut || claims[0].Counts.Add != 4000 {
		t.Errorf("%d claims of a plan with 4,000 objects", len(claims))
	}
	if a := shadow.Compare(shadow.Plan{Counted: true}, claims[0]); len(a.Differences) > 20 || a.More == 0 && len(a.Differences) == 20 {
		t.Errorf("%d differences, and %d more", len(a.Differences), a.More)
	}
	if got := source.Claims([]shadow.Comment{{ID: 1, Author: "bot[bot]", Body: plan(strings.Repeat("x", 1<<20))}}, time.Time{}); len(got) != 0 {
		t.Errorf("a comment of 1 MiB is read: %+v", got)
	}
	long := plan("  # terraform_data.a[\"" + strings.Repeat("k", 2000) + "\"] will be created\nPlan: 1 to add, 0 to change, 0 to destroy.\n")
	if got := source.Claims([]shadow.Comment{{ID: 1, Author: "bot[bot]", Body: long}}, time.Time{}); len(got) != 1 || !got[0].Cut || len(got[0].Changes) != 0 {
		t.Errorf("an address of 2,000 bytes is kept: %+v", got)
	}
	var all []shadow.Comment
	for i := range int64(1000) {
		all = append(all, shadow.Comment{ID: i, Author: "bot[bot]", Body: plan("No changes.\n")})
	}
	if got := source.Claims(all, time.Time{}); len(got) != 300 || got[0].Comment != 700 {
		t.Errorf("%d claims of 1,000 comments", len(got))
	}
}

// TestOldComments holds that a comment that was written before the push is not about the head.
func TestOldComments(t *testing.T) {
	t.Parallel()
	source := shadow.Source{Tool: shadow.Atlantis, Author: "bot[bot]"}
	body := "Ran Plan for dir: `net` workspace: `default`\n\n```diff\nNo changes.\n```\n"
	at := time.Unix(100, 0)
	if got := source.Claims([]shadow.Comment{{ID: 1, Author: "bot[bot]", Body: body, At: at.Add(-time.Second)}}, at); len(got) != 0 {
		t.Errorf("an old comment counts: %+v", got)
	}
	if got := source.Claims([]shadow.Comment{{ID: 1, Author: "BOT[bot]", Body: body, At: at}}, at); len(got) != 1 {
		t.Error("a new comment does not count")
	}
	if got := (shadow.Source{Tool: shadow.Atlantis}).Claims([]shadow.Comment{{ID: 1, Body: body, At: at}}, at); len(got) != 0 {
		t.Error("without an author in the settings, comments of deleted accounts count")
	}
}

// FuzzClaims holds that no comment makes Lockstep panic, or claim more than the limits allow.
func FuzzClaims(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	tools := []shadow.Tool{shadow.Atlantis, shadow.Digger, shadow.Terrateam, shadow.Dflook, shadow.Tfcmt}
	for _, path := range paths {
		r := readRecording(&testing.T{}, path)
		for _, c := range r.comments {
			f.Add(uint8(slices.Index(tools, shadow.Tool(r.tool))), c.Body, c.Body)
		}
	}
	f.Fuzz(func(t *testing.T, tool uint8, first, second string) {
		source := shadow.Source{Tool: tools[int(tool)%len(tools)], Author: "bot[bot]"}
		claims := source.Claims([]shadow.Comment{{ID: 1, Author: "bot[bot]", Body: first}, {ID: 2, Author: "bot[bot]", Body: second}}, time.Time{})
		for _, c := range claims {
			if len(c.Changes) > 2000 {
				t.Errorf("%d changes", len(c.Changes))
			}
			if a := shadow.Compare(shadow.Plan{Counted: true}, c); len(a.Differences) > 20 {
				t.Errorf("%d differences", len(a.Differences))
			}
		}
	})
}

// TestManyPieces holds that a plan that Atlantis has cut into many comments costs work in proportion to its length.
func TestManyPieces(t *testing.T) {
	const comments = 100
	var all []shadow.Comment
	for i := range comments {
		head := "Continued plan output from previous comment.\n<details><summary>Show Output</summary>\n\n```diff\n"
		if i == 0 {
			head = "Ran Plan for dir: `net` workspace: `default`\n\n<details><summary>Show Output</summary>\n\n```diff\n"
		}
		tail := "\n```\n</details>\n\n<br>\n\n**Warning**: Output length greater than max comment size. Continued in next comment."
		if i == comments-1 {
			tail = "\nPlan: 100 to add, 0 to change, 0 to destroy.\n```\n</details>"
		}
		text := fmt.Sprintf("  # terraform_data.x[%d] will be created\n", i) + strings.Repeat("+   resource \"terraform_data\" \"x\"\n", 1500)
		all = append(all, shadow.Comment{ID: int64(i), Author: "a", Body: head + text + tail})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	claims := shadow.Source{Tool: shadow.Atlantis, Author: "a"}.Claims(all, time.Time{})
	runtime.ReadMemStats(&after)
	if len(claims) != 1 || len(claims[0].Changes) != comments || claims[0].Cut {
		t.Fatalf("%d claims", len(claims))
	}
	size := uint64(comments * len(all[1].Body))
	if used := after.TotalAlloc - before.TotalAlloc; used > 30*size {
		t.Errorf("%d bytes are used for %d bytes of comments", used, size)
	}
}
