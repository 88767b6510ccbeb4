package markdown_test

import (
	"flag"
	"fmt"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

var plansCut = flag.Int("plans", 150, "the number of random plans that TestCutHidesNoChange cuts")

// TestCutHidesNoChange cuts random plans to random lengths. Each change keeps the line with its
// address and its action, or is in the number of those that are not listed; nothing is listed
// unless all that destroys is; and no code block or fold stays open.
func TestCutHidesNoChange(t *testing.T) {
	t.Parallel()
	for seed := range *plansCut {
		r := rand.New(rand.NewSource(int64(seed)))
		plan := rendertest.RandomPlan(int64(seed))
		for i := range r.Intn(40) {
			more := rendertest.RandomPlan(int64(seed*100 + i))
			plan.Changes = append(plan.Changes, more.Changes...)
		}
		whole := render.PlanMarkdown(plan, nil)
		if seed%3 == 0 {
			whole += "\n" + markdown.Fence("", problems(r, seed%2 == 0)) + "\n"
		}
		limit := 600 + r.Intn(len(whole))
		once := markdown.Cut(whole, limit)
		check(t, seed, whole, once, limit)
		again := 600 + r.Intn(limit)
		check(t, seed, whole, markdown.Cut(once, again), again)
	}
}

// problems are an error behind warnings, as package render writes them: in a frame with colours.
func problems(r *rand.Rand, framed bool) string {
	var b strings.Builder
	for i := range 1 + r.Intn(20) {
		d := diags.Warningf(nil, fmt.Sprint("Doubt ", i), "%s", strings.Repeat("a line of its words\n", r.Intn(40)))[0]
		if i == 0 {
			d = diags.Errorf(nil, "The world ended", "%s\n\nAnd so on: Error: no other one.", strings.Repeat("x", r.Intn(5000)))[0]
		}
		b.WriteString((&render.Printer{Color: framed}).Diagnostic(d, nil))
	}
	return colours.ReplaceAllString(strings.Trim(b.String(), "\n"), "")
}

// TestCutErrors holds that of errors behind many long warnings each has its line.
func TestCutErrors(t *testing.T) {
	t.Parallel()
	for _, errors := range []int{1, 60, 300} {
		var b strings.Builder
		for i := range 100 {
			b.WriteString((&render.Printer{}).Diagnostic(diags.Warningf(nil, "Check block assertion failed", "%d %s", i, strings.Repeat("a line of its words\n\n", 30))[0], nil))
		}
		for i := range errors {
			b.WriteString((&render.Printer{}).Diagnostic(diags.Errorf(nil, fmt.Sprint("Failure ", i, "."), "%s", strings.Repeat("a line of its words\n", 20))[0], nil))
		}
		cut := markdown.Cut(markdown.Fence("", strings.Trim(b.String(), "\n"))+"\n", 60_000)
		for i := range errors {
			if !strings.Contains(cut, fmt.Sprint("\nError: Failure ", i, ".\n")) {
				t.Fatalf("of %d errors, %d is missing: ...%s", errors, i, cut[len(cut)-300:])
			}
		}
	}
}

// TestCutOutputs holds that outputs leave room for what is changed, and what is destroyed.
func TestCutOutputs(t *testing.T) {
	t.Parallel()
	outputs := ""
	for i := range 1000 {
		outputs += fmt.Sprintf("!   o%d = \"%s\" -> \"%d\"\n", i, strings.Repeat("x", 60), i)
	}
	whole := "```diff\n# a.upd will be updated in-place\n!   resource \"a\" \"upd\" {\n!       open = \"no\" -> \"to the world\"\n    }\n\n# a.db will be destroyed\n-   resource \"a\" \"db\" {\n-       name = \"orders\" -> null\n-   }\n```\n\nChanges to outputs:\n\n```diff\n" + outputs + "```\n"
	cut := markdown.Cut(whole, 60_000)
	for _, want := range []string{"to the world", "orders", "o0 = ", " others"} {
		if !strings.Contains(cut, want) {
			t.Errorf("%q is missing: %.400s", want, cut)
		}
	}
}

// TestFirstError is a table of texts with their first errors.
func TestFirstError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"```\nWarning: Deprecated attribute\n\n  on main.tf line 1:\n\nError: Quota exceeded\n\n  on main.tf line 3:\n```\n": "Quota exceeded",
		"```\nError: One\n\nwords\nError: of its own\n\nError: Two\n```\n":                                                   "One",
		"│ Error: Framed\n": "Framed",
		"no problem":        "",
		"":                  "",
	} {
		if got := markdown.FirstError(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// colours match the escapes of a terminal.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

var (
	title    = regexp.MustCompile(`(?m)^(?:# .* (?:will be|must be|will no longer|has moved|has been|has changed)\b.*|(?:│ )?(?:Error|Warning): .*)$`)
	destroys = regexp.MustCompile(` will be destroyed| be replaced|Error: `)
	unlisted = regexp.MustCompile(`(?m)^\*Shortened to fit.*; not listed: (.*)\.\*`)
)

func check(t *testing.T, seed int, whole, cut string, limit int) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d, limit %d: %s\n%s\n=====\n%s", seed, limit, fmt.Sprintf(format, args...), cut, whole)
	}
	if len(cut) > limit {
		fail("%d bytes", len(cut))
	}
	if strings.Count("\n"+cut, "\n<details") != strings.Count(cut, "\n</details>\n") {
		fail("a fold is open")
	}
	has := map[string]int{}
	for _, line := range title.FindAllString(cut, -1) {
		has[line]++
	}
	left := 0
	worst := ""
	for _, line := range title.FindAllString(whole, -1) {
		if has[line]--; has[line] < 0 {
			left++
			if destroys.MatchString(line) {
				worst = line
			}
		}
	}
	told := 0
	if m := unlisted.FindStringSubmatch(cut); m != nil {
		for item := range strings.SplitSeq(m[1], ", ") {
			number, kind, _ := strings.Cut(item, " ")
			n, err := strconv.Atoi(number)
			if err != nil {
				fail("%q is no number", number)
			}
			if kind != "others" { // outputs, which have no title
				told += n
			}
		}
	}
	if told != left && strings.Contains(cut, "```") {
		fail("%d entries are not listed, but it says %d", left, told)
	}
	for line := range has {
		if worst != "" && has[line] >= 0 && strings.Contains(cut, line) && !destroys.MatchString(line) {
			fail("%q is listed, but %q is not", line, worst)
		}
	}
}

// TestCutInside shows a long value cut inside, around the difference, and all that stands beside it
// whole.
func TestCutInside(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20_000)
	whole := "**Plan:** 0 to add, 3 to change, 0 to destroy.\n\n<details><summary>Changes</summary>\n\n```diff\n" +
		"# a.big will be updated in-place\n!   resource \"a\" \"big\" {\n        id    = \"1\"\n!       input = \"" + long + "A" + long + "\" -> \"" + long + "B" + long + "\"\n!       mode  = \"closed\" -> \"open\"\n    }\n\n" +
		"# a.lines will be updated in-place\n!   resource \"a\" \"lines\" {\n!       text = <<-EOT\n" + strings.Repeat("            line\n", 3000) + "        EOT\n!       mode = \"r\" -> \"w\"\n    }\n\n" +
		"# a.db will be updated in-place\n!   resource \"a\" \"db\" {\n!       input = \"1\" -> \"open to the world\"\n    }\n" +
		"```\n\n</details>\n"
	cut := markdown.CutTo(whole, 3000, "The full text: here.")
	for _, want := range []string{
		"# a.big will", "xA", "xB", `mode  = "closed" -> "open"`, "bytes left out)", "# a.lines will", `mode = "r" -> "w"`, "lines left out)",
		`input = "1" -> "open to the world"`, "*Shortened to fit: 1 without all details.* The full text: here.",
	} {
		if !strings.Contains(cut, want) {
			t.Errorf("%q is missing:\n%s", want, cut)
		}
	}
}
