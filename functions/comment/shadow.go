package comment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Shadow is the check run about the projects of a pull request that are in shadow mode: another tool applies them, and
// Lockstep compares its plans with those of that tool.
type Shadow struct {
	Tool     string // the other tool, as in "Atlantis"
	Projects []ShadowProject
	// Problem is the reason why Lockstep cannot determine the projects. Refused is the reason why it plans none. Both
	// are Markdown; "" if there is no such reason. Conflict is set if the head conflicts with the base branch.
	Problem, Refused string
	Conflict         bool
	// Merged is set if the pull request is merged. Plans that are not compared by then will never be
	// compared.
	Merged bool
}

// A ShadowProject is a project in shadow mode.
type ShadowProject struct {
	Name    string
	Planned bool
	Plan    string // Lockstep's plan in few words
	Verdict string // "agree", "differ" or "unknown"
	Why     string // why the verdict is unknown; "" for any other
	Problem string // why Lockstep's plan failed, in Markdown; "" if it did not
	// Ours and Theirs are the times from the push to the two plans; 0 if a time is not known.
	Ours, Theirs time.Duration
	Differences  []ShadowDifference
	More         int // differences that are left out
}

// A ShadowDifference is a difference between two plans of a project.
type ShadowDifference struct {
	Object       string // its address; "" if the difference is not about one object
	Ours, Theirs string // what each plan does
	Advice       string // what to look at
}

// counts returns how many projects have each verdict. A project without a plan of Lockstep counts as "".
func (s Shadow) counts() map[string]int {
	n := map[string]int{}
	for _, p := range s.Projects {
		if !p.Planned {
			n[""]++
			continue
		}
		n[p.Verdict]++
	}
	return n
}

// Title returns the check's title, of at most limit bytes.
func (s Shadow) Title(limit int) string {
	n := s.counts()
	var parts []string
	unknown := [2]string{"1 plan waits for %s", "%d plans wait for %s"}
	if s.Merged {
		unknown = [2]string{"1 plan is not compared", "%d plans are not compared"}
	}
	for _, x := range []struct {
		verdict, one, many string
	}{{"differ", "1 plan differs from %s", "%d plans differ from %s"}, {"agree", "1 plan agrees with %s", "%d plans agree with %s"}, {"unknown", unknown[0], unknown[1]}, {"", "1 project in progress", "%d projects in progress"}} {
		switch text := ""; {
		case n[x.verdict] == 1:
			text = x.one
			parts = append(parts, strings.Replace(text, "%s", s.Tool, 1))
		case n[x.verdict] > 1:
			text = strings.Replace(x.many, "%s", s.Tool, 1)
			parts = append(parts, fmt.Sprintf(text, n[x.verdict]))
		}
	}
	text := "Shadow mode: " + strings.Join(parts, ", ")
	if len(parts) == 0 {
		text = "Shadow mode: " + s.obstacle()
	}
	return text[:min(len(text), limit)]
}

// obstacle says in a few words why there are no projects.
func (s Shadow) obstacle() string {
	switch {
	case s.Conflict:
		return "the pull request conflicts with its base branch"
	case s.Refused != "":
		return "Lockstep plans nothing here"
	case s.Problem != "":
		return "Lockstep cannot determine the projects"
	}
	return "no project is affected"
}

// The table has at most maxShadowRows projects. At most maxShadowParts projects follow with their differences.
const (
	maxShadowRows  = 50
	maxShadowParts = 30
)

// Summary returns the check's text, in Markdown. Projects that differ come first.
func (s Shadow) Summary() string {
	var b strings.Builder
	who := "These projects"
	if len(s.Projects) == 0 {
		who = "The projects of this repository"
	}
	fmt.Fprintf(&b, "%s are in shadow mode: %s applies them. Lockstep only plans, and compares the two plans. It applies none of them, and it answers no comment about them.\n", who, s.Tool)
	if why := s.obstacle(); len(s.Projects) == 0 {
		fmt.Fprintf(&b, "\n%s.\n", strings.ToUpper(why[:1])+why[1:])
	}
	for _, text := range []string{s.Refused, s.Problem} {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
			break
		}
	}
	if len(s.Projects) == 0 {
		return b.String()
	}
	order := []string{"differ", "unknown", "agree"}
	all := slices.Clone(s.Projects)
	slices.SortStableFunc(all, func(x, y ShadowProject) int { return slices.Index(order, x.Verdict) - slices.Index(order, y.Verdict) })
	fmt.Fprintf(&b, "\n| Project | Plan of Lockstep | Comparison | Lockstep took | %s took |\n|---|---|---|---|---|\n", s.Tool)
	for _, p := range all[:min(len(all), maxShadowRows)] {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", markdown.Code(p.Name), p.plan(), p.verdict(), elapsed(p.Ours), elapsed(p.Theirs))
	}
	if more := len(all) - maxShadowRows; more > 0 {
		n := Shadow{Projects: all[maxShadowRows:]}.counts()
		fmt.Fprintf(&b, "\nThe table leaves out %d projects: %d differ, %d agree, %d have no comparison yet. `lockstep shadow report` lists all.\n", more, n["differ"], n["agree"], n["unknown"]+n[""])
	}
	parts := 0
	for _, p := range all {
		if len(p.Differences) == 0 && p.Problem == "" {
			continue
		}
		if parts++; parts > maxShadowParts {
			continue
		}
		p.write(&b, s.Tool)
	}
	if parts > maxShadowParts {
		fmt.Fprintf(&b, "\n%d more projects have differences. `lockstep shadow report` lists all.\n", parts-maxShadowParts)
	}
	return b.String()
}

func (p ShadowProject) plan() string {
	if !p.Planned {
		return "in progress"
	}
	return p.Plan
}

func (p ShadowProject) verdict() string {
	switch p.Verdict {
	case "differ":
		return "**differs**"
	case "agree":
		return "agrees"
	}
	return p.Why
}

// elapsed returns a duration for people; "" if it is not known.
func elapsed(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return d.Round(time.Second).String()
}

// write writes the differences of a project.
func (p ShadowProject) write(b *strings.Builder, tool string) {
	fmt.Fprintf(b, "\n### %s\n", markdown.Code(p.Name))
	if p.Problem != "" {
		fmt.Fprintf(b, "\nThe plan of Lockstep failed:\n\n%s\n", p.Problem)
	}
	advice := ""
	if len(p.Differences) > 0 {
		b.WriteString("\n")
	}
	for _, d := range p.Differences {
		what := "The plan"
		if d.Object != "" {
			what = markdown.Code(d.Object)
		}
		fmt.Fprintf(b, "- %s: Lockstep %s, %s %s.", what, markdown.Code(d.Ours), tool, markdown.Code(d.Theirs))
		if d.Advice != advice && d.Advice != "" {
			b.WriteString(" " + d.Advice)
		}
		advice = d.Advice
		b.WriteString("\n")
	}
	if p.More > 0 {
		fmt.Fprintf(b, "- and %d more differences\n", p.More)
	}
}
