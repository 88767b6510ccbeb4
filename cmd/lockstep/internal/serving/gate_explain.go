package serving

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/decisionlog"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/github"
)

const explainUsage = `gate explain [OPTIONS] OWNER/NAME#NUMBER

  Shows why Lockstep allowed or blocked the last command on a pull request: each rule of the
  require blocks on the base branch, with the facts that Lockstep read at that time.

  With -at, it decides again as of another time, to test windows and freezes. With -json, it
  prints the facts. Edit them, and -file decides on the edited ones.

  The exit code is 0 if all requirements are met, and 2 if not.`

type explainOptions struct {
	data, table, file, project, command, at string
	json                                    bool
}

// GateExplain is the command gate explain. It repeats recorded decisions about requirements, and shows each
// rule with the facts that the rule used.
var GateExplain = cli.Command{Name: "gate explain", Synopsis: "Show why requirements allowed or blocked a command", Run: func(a *cli.App, args []string) int {
	var o explainOptions
	f := a.NewFlags("gate explain", explainUsage)
	f.StringVar(&o.data, "data", "lockstep-data", "data directory of lockstep serve")
	f.StringVar(&o.table, "table", "", "DynamoDB table of a deployment, instead of -data")
	f.StringVar(&o.file, "file", "", "file with a saved output of gate explain -json, instead of a pull request")
	f.StringVar(&o.project, "p", "*", "name of a project; * matches any text")
	f.StringVar(&o.command, "command", "", "command, such as plan, apply or lock (default: all)")
	f.StringVar(&o.at, "at", "", "decide as of this time, such as 2026-12-24T08:00:00Z")
	f.BoolVar(&o.json, "json", false, "print all facts as JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if (o.file == "") != (f.NArg() == 1) {
		return f.Refuse("Missing pull request", "Write one pull request, as in `lockstep gate explain acme/infra#12`, or -file=FILE with a saved output of `lockstep gate explain -json acme/infra#12`.")
	}
	all, err := o.questions(a, f.Arg(0))
	if err != nil {
		return a.Failed(err)
	}
	if o.json {
		data, err := json.MarshalIndent(all, "", "  ")
		return a.WriteJSON(data, err)
	}
	code := 0
	for _, q := range all {
		if !explainGate(a, q) {
			code = 2
		}
	}
	return code
}}

// questions returns the recorded questions that the options select. Each one is whether a command is allowed on
// a pull request.
func (o explainOptions) questions(a *cli.App, pull string) (all []decisionlog.Asked, err error) {
	if o.file != "" {
		all, err = questionsOfFile(a.Path(o.file))
	} else {
		all, err = o.recorded(a, pull)
	}
	if err != nil {
		return nil, err
	}
	if !doublestar.ValidatePattern(o.project) {
		return nil, fmt.Errorf("-p: %q is not a valid pattern", o.project)
	}
	found := slices.DeleteFunc(slices.Clone(all), func(q decisionlog.Asked) bool {
		return o.command != "" && q.Command != o.command || o.project != "*" && !doublestar.MatchUnvalidated(o.project, q.Project)
	})
	if len(found) == 0 {
		return nil, noQuestions(pull, all)
	}
	if o.at == "" {
		return found, nil
	}
	at, err := time.Parse(time.RFC3339, o.at)
	if err != nil {
		return nil, cli.Hinted(fmt.Errorf("-at: %q is not a time", o.at), "write it like -at 2026-12-24T08:00:00Z")
	}
	for i := range found {
		found[i].Facts.Now = at
	}
	return found, nil
}

// noQuestions returns the error that no recorded decision is about the pull request. all are the recorded
// decisions.
func noQuestions(pull string, all []decisionlog.Asked) error {
	if len(all) == 0 {
		return cli.Hinted(fmt.Errorf("no decision is recorded about %s", pull), "check -data or -table. Lockstep records a decision when the base branch has a require block and somebody gives a command")
	}
	var known []string
	for _, q := range all {
		known = append(known, q.Project+" ("+q.Command+")")
	}
	return cli.Hinted(fmt.Errorf("no decision is recorded about this project and command"), "choose one of %s with -p and -command", strings.Join(known, ", "))
}

func questionsOfFile(path string) (all []decisionlog.Asked, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("-file: %s", cli.Reason(err))
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, cli.Hinted(fmt.Errorf("-file: %w", err), "give -file the output of `lockstep gate explain -json`")
	}
	return all, nil
}

var pullPattern = regexp.MustCompile(`^([A-Za-z0-9-]{1,100})/([A-Za-z0-9._-]{1,100})#([1-9][0-9]{0,8})$`)

// recorded returns the recorded questions about a pull request.
func (o explainOptions) recorded(a *cli.App, pull string) ([]decisionlog.Asked, error) {
	m := pullPattern.FindStringSubmatch(pull)
	if m == nil {
		return nil, cli.Hinted(fmt.Errorf("%q is not a pull request", pull), "write OWNER/NAME#NUMBER, such as acme/infra#7")
	}
	number, err := strconv.Atoi(m[3])
	if err != nil {
		return nil, err
	}
	records, done, err := openRecords(a, o.data, o.table)
	if err != nil {
		return nil, err
	}
	defer done()
	return decisionlog.Of(a.Ctx, records, github.Repo{Owner: m[1], Name: m[2]}, number)
}

// explainGate prints one recorded decision, and reports whether it allows the command.
func explainGate(a *cli.App, q decisionlog.Asked) bool {
	who := "not asked by anybody yet"
	if q.Facts.Actor != "" {
		who = "asked by " + q.Facts.Actor
	}
	fmt.Fprintf(a.Out, "%s#%d %s: lockstep %s, %s, as of %s\n", q.Repo, q.Number, q.Project, q.Command, who, q.Facts.Now.UTC().Format(time.DateTime+" MST"))
	if q.TooLarge {
		fmt.Fprintln(a.Out, "  Lockstep recorded no facts, because they were too large.")
		return false
	}
	ruling := requirementrules.Decide(q.Question)
	fmt.Fprintf(a.Out, "  %s\n", map[bool]string{true: "All requirements are met.", false: "Not all requirements are met."}[ruling.Outcome.Allows()])
	fmt.Fprint(a.Out, strings.ReplaceAll(ruling.Markdown(1), "**", ""))
	if ruling.Outcome == rulings.NotApplicable && len(ruling.Of) == 0 {
		fmt.Fprintln(a.Out, "  - The base branch has no requirements for this project and command.")
	}
	return ruling.Outcome.Allows()
}
