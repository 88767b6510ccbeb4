package serving

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
)

const shadowReportUsage = `shadow report [OPTIONS]

  Shows how well Lockstep's plans in shadow mode agree with those of the tool
  that applies: for each project, with each difference and its cause. It also
  shows how fast both tools were, and what Lockstep's plans cost.

  With -json, it prints the whole report as JSON. The exit code is 0 if all
  compared plans agree, and 2 if not.`

// ShadowReport is the command shadow report. It reports how well plans in shadow mode agree with those of another tool.
var ShadowReport = cli.Command{Name: "shadow report", Synopsis: "Compare plans in shadow mode with those of the other tool", Run: func(a *cli.App, args []string) int {
	var data, table, repo, project, after string
	var asJSON bool
	f := a.NewFlags("shadow report", shadowReportUsage)
	f.StringVar(&data, "data", "lockstep-data", "data directory of lockstep serve")
	f.StringVar(&table, "table", "", "DynamoDB table of a deployment, instead of -data: the output RecordsTable of its stack")
	f.StringVar(&repo, "repo", "*/*", "repository, such as acme/infra; * matches any text")
	f.StringVar(&project, "p", "**", "name of a project; * matches any text")
	f.StringVar(&after, "since", "", "plans from this time on, such as 2026-11-01 or 720h")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	for option, pattern := range map[string]string{"-repo": repo, "-p": project} {
		if !doublestar.ValidatePattern(pattern) {
			return a.Failed(fmt.Errorf("%s: %q is not a valid pattern", option, pattern))
		}
	}
	from, err := since(after, time.Now())
	if err != nil {
		return a.Failed(err)
	}
	records, done, err := openRecords(a, data, table)
	if err != nil {
		return a.Failed(err)
	}
	defer done()
	all, err := shadow.Read(a.Ctx, records, func(p pipeline.Pull) bool {
		return doublestar.MatchUnvalidated(strings.ToLower(repo), strings.ToLower(p.Repo.String()))
	})
	if err != nil && table != "" {
		err = cli.Hinted(err, "give the name of the table with -table, and set AWS_PROFILE and AWS_REGION")
	}
	if err != nil {
		return a.Failed(err)
	}
	var chosen []shadow.Record
	for _, r := range all {
		if doublestar.MatchUnvalidated(project, r.Project) {
			chosen = append(chosen, r)
		}
	}
	s := shadow.Summarize(chosen, from)
	if s.Plans == 0 {
		return a.Failed(cli.Hinted(errors.New("there are no plans in shadow mode"), "write `mode = \"shadow\"` into the defaults block of lockstep.hcl on the base branch, and open a pull request. If you have done so, check -data, -table and the other options"))
	}
	code := 0
	if s.Differ > 0 {
		code = 2
	}
	if asJSON {
		text, err := json.MarshalIndent(s, "", "  ")
		if written := a.WriteJSON(text, err); written != 0 {
			return written
		}
		return code
	}
	writeShadowReport(a.Out, s)
	return code
}}

// openRecords opens the records of a deployment on AWS, or those in the data directory of lockstep serve.
func openRecords(a *cli.App, data, table string) (pipeline.Records, func(), error) {
	if table != "" {
		c, err := config.LoadDefaultConfig(a.Ctx)
		if err != nil {
			return nil, nil, cli.Hinted(fmt.Errorf("-table: %w", err), "set AWS_PROFILE or other credentials that may read the table")
		}
		return awsstore.Records{Client: dynamodb.NewFromConfig(c), Table: table}, func() {}, nil
	}
	at := a.Path(data)
	if _, err := os.Stat(at); err != nil {
		return nil, nil, cli.Hinted(fmt.Errorf("there is no data directory %s", data), "add -data=DIR with the data directory of `lockstep serve` (without it, lockstep-data is read), or -table=NAME with the table of a deployment")
	}
	dir, err := localstore.Open(at)
	if err != nil {
		return nil, nil, err
	}
	return dir.Records, func() { dir.Close() }, nil
}

// The largest numbers of projects and of plans that the report lists. The output of -json has all.
const (
	maxShadowProjects = 40
	maxShadowPlans    = 20
)

// writeShadowReport writes a report for people.
func writeShadowReport(w io.Writer, s shadow.Summary) {
	fmt.Fprintln(w, shadowHeadline(s))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nPROJECT\tPLANS\tAGREE\tDIFFER\tUNKNOWN\tLOCKSTEP TOOK\tOTHER TOOL TOOK\n")
	for _, p := range s.Projects[:min(len(s.Projects), maxShadowProjects)] {
		fmt.Fprintf(t, "%s %s\t%d\t%d\t%d\t%d\t%s\t%s\n", cli.Plain(p.Repo), cli.Plain(p.Project), p.Plans, p.Agree, p.Differ, p.Unknown, seconds(p.Ours), seconds(p.Theirs))
	}
	t.Flush()
	if more := s.Projects[min(len(s.Projects), maxShadowProjects):]; len(more) > 0 {
		rest := shadow.Tally{}
		for _, p := range more {
			rest.Plans, rest.Agree, rest.Differ, rest.Unknown = rest.Plans+p.Plans, rest.Agree+p.Agree, rest.Differ+p.Differ, rest.Unknown+p.Unknown
		}
		fmt.Fprintf(w, "and %d more projects with %d plans: %d agree, %d differ, %d are unknown. -json lists all.\n", len(more), rest.Plans, rest.Agree, rest.Differ, rest.Unknown)
	}
	if len(s.Causes) > 0 {
		fmt.Fprint(w, "\nCauses of the differences:\n")
		for _, c := range s.Causes {
			fmt.Fprintf(w, "  %d x %s. %s\n", c.Count, c.Cause, c.Advice)
		}
	}
	if len(s.Unknowns) > 0 {
		fmt.Fprint(w, "\nPlans with nothing to compare with:\n")
		for _, why := range slices.Sorted(maps.Keys(s.Unknowns)) {
			fmt.Fprintf(w, "  %d x %s\n", s.Unknowns[why], cli.Plain(why))
		}
	}
	for i, r := range s.Differing {
		if i == maxShadowPlans {
			fmt.Fprintf(w, "\n%d more plans differ. -json lists all.\n", len(s.Differing)-i)
			break
		}
		fmt.Fprintf(w, "\n%s, pull request %d of %s, commit %.7s, %s:\n", cli.Plain(r.Label()), r.Pull, cli.Plain(r.Repo), r.Head, r.Planned.UTC().Format("2006-01-02 15:04"))
		for _, d := range r.Differences {
			what := "the plan"
			if d.Address != "" {
				what = cli.Plain(d.Address)
			}
			fmt.Fprintf(w, "  %s: Lockstep %s, %s %s\n", what, cli.Plain(d.Ours), r.Tool.Title(), cli.Plain(d.Theirs))
		}
		if r.More > 0 {
			fmt.Fprintf(w, "  and %d more\n", r.More)
		}
	}
	fmt.Fprintf(w, "\nLockstep's plans took %s together, and cost %d requests to GitHub.\n", seconds(s.Seconds), s.Requests)
}

// shadowHeadline returns the first line of a report.
func shadowHeadline(s shadow.Summary) string {
	text := fmt.Sprintf("%d of %d compared plans agree", s.Agree, s.Agree+s.Differ)
	if percent, ok := s.Share(); ok {
		text += fmt.Sprintf(" (%d%%)", percent)
	} else {
		text = "No plan is compared yet"
	}
	switch {
	case s.Unknown == 1:
		text += "; 1 plan has nothing to compare with"
	case s.Unknown > 1:
		text += fmt.Sprintf("; %d plans have nothing to compare with", s.Unknown)
	}
	if !s.Since.IsZero() {
		text += ", since " + s.Since.UTC().Format("2006-01-02 15:04")
	}
	return text + "."
}

// seconds returns a duration for people; "-" if it is not known.
func seconds(n float64) string {
	if n <= 0 {
		return "-"
	}
	d := time.Duration(n * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
