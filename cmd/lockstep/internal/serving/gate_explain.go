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

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/decisionlog"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/github"
)

const explainUsage = `gate explain [OPTIONS] OWNER/NAME#NUMBER

  Shows how the requirements of the base branch's lockstep.hcl were decided on, the last
  time that somebody gave a command about a pull request: each rule, with the facts that
  were read then. -at decides on the same facts at another time, for windows and freezes;
  -json prints them, and -file reads them again, perhaps edited.

  The exit code is 0 if all is fulfilled, and 2 if not.`

type explainOptions struct {
	data, table, file, project, command, at string
	json                                    bool
}

// GateExplain answers questions to the gate again, and shows each rule with the facts behind it.
var GateExplain = cli.Command{Name: "gate explain", Synopsis: "Show why requirements let a command through, or not", Run: func(a *cli.App, args []string) int {
	var o explainOptions
	f := a.NewFlags("gate explain", explainUsage)
	f.StringVar(&o.data, "data", "lockstep-data", "the data directory of lockstep serve")
	f.StringVar(&o.table, "table", "", "the table with the records of a deployment, in the place of -data")
	f.StringVar(&o.file, "file", "", "a file with the output of -json, in the place of a pull request")
	f.StringVar(&o.project, "p", "*", "the projects: a name, in which * stands for any")
	f.StringVar(&o.command, "command", "", "a command, such as plan, apply or lock; without this, all")
	f.StringVar(&o.at, "at", "", "decide as of this time: 2026-12-24T08:00:00Z")
	f.BoolVar(&o.json, "json", false, "print the questions, with all facts, as JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if (o.file == "") != (f.NArg() == 1) {
		return f.Refuse("Which pull request", "It takes OWNER/NAME#NUMBER, or -file with the output of -json.")
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

// questions reads the questions that the options select.
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
		return nil, fmt.Errorf("-p: %q is no pattern of names", o.project)
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
		return nil, cli.Hinted(fmt.Errorf("-at: %q is no time", o.at), "such as -at 2026-12-24T08:00:00Z")
	}
	for i := range found {
		found[i].Facts.Now = at
	}
	return found, nil
}

// noQuestions tells that there is no question of those that are known.
func noQuestions(pull string, all []decisionlog.Asked) error {
	if len(all) == 0 {
		return cli.Hinted(fmt.Errorf("nothing is recorded about %s", pull), "the base branch has no requirements, or nobody has given a command since it has; -data or -table name the place of the records")
	}
	var known []string
	for _, q := range all {
		known = append(known, q.Project+" ("+q.Command+")")
	}
	return cli.Hinted(fmt.Errorf("nothing is recorded about this project and command"), "there are %s", strings.Join(known, ", "))
}

func questionsOfFile(path string) (all []decisionlog.Asked, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("-file: %s", cli.Reason(err))
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, cli.Hinted(fmt.Errorf("-file: %w", err), "it reads the output of gate explain -json")
	}
	return all, nil
}

var pullPattern = regexp.MustCompile(`^([A-Za-z0-9-]{1,100})/([A-Za-z0-9._-]{1,100})#([1-9][0-9]{0,8})$`)

// recorded reads the questions about a pull request.
func (o explainOptions) recorded(a *cli.App, pull string) ([]decisionlog.Asked, error) {
	m := pullPattern.FindStringSubmatch(pull)
	if m == nil {
		return nil, cli.Hinted(fmt.Errorf("%q is no pull request", pull), "write OWNER/NAME#NUMBER: acme/infra#7")
	}
	number, err := strconv.Atoi(m[3])
	if err != nil {
		return nil, err
	}
	var records pipeline.Records
	if o.table != "" {
		c, err := config.LoadDefaultConfig(a.Ctx)
		if err != nil {
			return nil, cli.Hinted(fmt.Errorf("-table: %w", err), "AWS_PROFILE or other credentials say as whom it is read")
		}
		records = awsstore.Records{Client: dynamodb.NewFromConfig(c), Table: o.table}
	} else {
		path := a.Path(o.data)
		if _, err := os.Stat(path); err != nil {
			return nil, cli.Hinted(fmt.Errorf("-data: there is no directory %s", o.data), "name the data directory of lockstep serve, or with -table the table of a deployment")
		}
		dir, err := localstore.Open(path)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		records = dir.Records
	}
	return decisionlog.Of(a.Ctx, records, github.Repo{Owner: m[1], Name: m[2]}, number)
}

// explainGate writes one decision, and reports whether it allows the command.
func explainGate(a *cli.App, q decisionlog.Asked) bool {
	who := "asked for by nobody yet"
	if q.Facts.Actor != "" {
		who = "asked for by " + q.Facts.Actor
	}
	fmt.Fprintf(a.Out, "%s#%d %s: lockstep %s, %s, as of %s\n", q.Repo, q.Number, q.Project, q.Command, who, q.Facts.Now.UTC().Format(time.DateTime+" MST"))
	if q.TooLarge {
		fmt.Fprintln(a.Out, "  The facts were too many to be recorded.")
		return false
	}
	ruling := requirementrules.Decide(q.Question)
	fmt.Fprintf(a.Out, "  %s\n", map[bool]string{true: "All requirements are fulfilled.", false: "Not all requirements are fulfilled."}[ruling.Outcome.Allows()])
	fmt.Fprint(a.Out, strings.ReplaceAll(ruling.Markdown(1), "**", ""))
	if ruling.Outcome == rulings.NotApplicable && len(ruling.Of) == 0 {
		fmt.Fprintln(a.Out, "  - There are none.")
	}
	return ruling.Outcome.Allows()
}
