package serving

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
)

const auditLogUsage = `audit log [OPTIONS] [DIR]

  Prints the audit records, state by state: who asked for what, which plan was
  applied, who had approved it, and how the apply ended. DIR is a copy of the
  audit bucket.

  With -json, each line is a record as JSON. With -ocsf, each line is an event
  of the Open Cybersecurity Schema Framework, which security tools read.`

type auditFilter struct {
	repo, project, by, event, since string
	json, ocsf                      bool
	after                           time.Time
}

// AuditLog is the command audit log. It prints audit records.
var AuditLog = cli.Command{Name: "audit log", Synopsis: "Print the audit records: who applied what, and why that was allowed", Run: func(a *cli.App, args []string) int {
	var o auditOptions
	var x auditFilter
	f := a.NewFlags("audit log", auditLogUsage)
	o.add(f)
	f.StringVar(&x.repo, "repo", "*/*", "repository, such as acme/infra; * matches any text")
	f.StringVar(&x.project, "p", "**", "name of a project; * matches any text")
	f.StringVar(&x.by, "by", "", "login of the person who gave the command")
	f.StringVar(&x.event, "event", "", "kind of record, such as \"apply ended\"")
	f.StringVar(&x.since, "since", "", "records from this time on, such as 2026-11-01 or 720h")
	f.BoolVar(&x.json, "json", false, "print each record as a line of JSON")
	f.BoolVar(&x.ocsf, "ocsf", false, "print each record as an event of the Open Cybersecurity Schema Framework")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 1 {
		return f.WrongArguments("give one directory, or none", "audit log takes one directory, and you gave %d arguments", f.NArg())
	}
	if x.json && x.ocsf {
		return f.Refuse("Two formats", "Give -json or -ocsf, not both.")
	}
	if err := x.check(time.Now()); err != nil {
		return a.Failed(err)
	}
	r, err := o.open(a, f.Arg(0))
	if err != nil {
		return a.Failed(err)
	}
	defer r.close()
	out := bufio.NewWriter(a.Out)
	damaged := 0
	err = r.each(a.Ctx, func(_ string, _ int, data []byte) error {
		rec, err := audit.Decode(data)
		if err != nil {
			damaged++
			return nil
		}
		if !x.selects(rec) {
			return nil
		}
		if _, err := fmt.Fprintln(out, x.line(rec)); err != nil {
			return errEnough // the reader of a pipe has gone
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return a.Failed(err)
	}
	if err := out.Flush(); err != nil {
		return 1
	}
	if damaged > 0 {
		return a.Failed(cli.Hinted(fmt.Errorf("%d records are damaged, so they are not printed", damaged), "run `lockstep audit verify` to find out which"))
	}
	return 0
}}

// check checks the values of the options. now is the present time.
func (x *auditFilter) check(now time.Time) error {
	for option, pattern := range map[string]string{"-repo": x.repo, "-p": x.project} {
		if !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("%s: %q is not a valid pattern", option, pattern)
		}
	}
	if x.event != "" && !slices.Contains(audit.Events, audit.Event(x.event)) {
		var known []string
		for _, e := range audit.Events {
			known = append(known, fmt.Sprintf("%q", e))
		}
		return cli.Hinted(fmt.Errorf("-event: there are no records of the kind %q", x.event), "choose one of %s", strings.Join(known, ", "))
	}
	var err error
	x.after, err = since(x.since, now)
	return err
}

// since returns the time that the option -since names: a day, a time, or a duration before now. It is zero for "".
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	ago, err := time.ParseDuration(text)
	if err != nil {
		return time.Time{}, cli.Hinted(fmt.Errorf("-since: %q is not a time", text), "write a day such as 2026-11-01, a time such as 2026-11-01T08:00:00Z, or a duration such as 24h")
	}
	return now.Add(-ago), nil
}

// selects reports whether a record is printed.
func (x auditFilter) selects(r audit.Record) bool {
	return doublestar.MatchUnvalidated(strings.ToLower(x.repo), strings.ToLower(r.Repo)) && doublestar.MatchUnvalidated(x.project, r.Project) &&
		(x.by == "" || strings.EqualFold(x.by, r.By)) && (x.event == "" || string(r.Event) == x.event) && !r.At.Before(x.after)
}

// line returns the line for a record.
func (x auditFilter) line(r audit.Record) string {
	var v any = r
	switch {
	case x.ocsf:
		v = audit.ToOCSF(r)
	case !x.json:
		return fmt.Sprintf("%s  %-16s  %s", r.At.UTC().Format("2006-01-02 15:04:05"), cli.Plain(string(r.Event)), cli.Plain(r.Line()))
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("serving: encode a record: %v", err))
	}
	return string(data)
}
