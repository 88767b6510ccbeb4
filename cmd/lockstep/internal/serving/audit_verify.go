package serving

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

const auditVerifyUsage = `audit verify [OPTIONS] [DIR]

  Checks the audit records of all states:

  - Nobody has changed, removed or reordered a record.
  - Each apply was allowed. The command decides again, from the facts in the
    records.

  DIR is a copy of the audit bucket. The check then needs no network, and it
  cannot know whether the newest records are missing. To find that out, leave
  out DIR, and give -data, or -bucket and -table.

  The exit code is 0 if all records are in order, and 2 if not.`

// AuditVerify is the command audit verify. It checks the chains of audit records.
var AuditVerify = cli.Command{Name: "audit verify", Synopsis: "Check that audit records are complete and unchanged", Run: func(a *cli.App, args []string) int {
	var o auditOptions
	var days int
	f := a.NewFlags("audit verify", auditVerifyUsage)
	o.add(f)
	f.IntVar(&days, "days", 400, "days for which a deployment keeps records: its parameter AuditDays. lockstep serve keeps them for ever")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 1 {
		return f.WrongArguments("give one directory, or none", "audit verify takes one directory, and you gave %d arguments", f.NArg())
	}
	if o.bucket == "" && f.NArg() == 0 && !f.Given("days") {
		days = 0 // lockstep serve keeps its records for ever
	}
	r, err := o.open(a, f.Arg(0))
	if err != nil {
		return a.Failed(err)
	}
	defer r.close()
	s := auditSummary{app: a}
	var v *audit.Verification
	seen := map[string]bool{}
	err = r.each(a.Ctx, func(chain string, n int, data []byte) error {
		if chain != s.chain || v == nil {
			s.add(v)
			known, err := r.noted(a.Ctx, chain)
			if err != nil {
				return err
			}
			s.chain, s.of, s.chains, seen[chain] = chain, "", s.chains+1, true
			v = &audit.Verification{Known: known, Kept: time.Duration(days) * 24 * time.Hour, Now: time.Now()}
		}
		if rec, err := audit.Decode(data); err == nil {
			s.of = fmt.Sprintf("%s of %s", rec.Project, rec.Repo)
			if rec.Event == audit.ApplyEnded {
				s.applies++
			}
		}
		s.records++
		v.Add(chain, n, data)
		return nil
	})
	if err != nil {
		return a.Failed(err)
	}
	s.add(v)
	if s.records == 0 {
		return a.Failed(errNoRecords)
	}
	missing, err := r.unseen(a.Ctx, seen)
	if err != nil {
		return a.Failed(err)
	}
	for _, at := range missing {
		s.chain, s.of, s.chains = at.Chain, "", s.chains+1
		s.add(&audit.Verification{Known: []runs.Audited{at}, Kept: time.Duration(days) * 24 * time.Hour, Now: time.Now()})
	}
	return s.end()
}}

// An auditSummary prints what verifications find, and counts.
type auditSummary struct {
	app                              *cli.App
	chain, of                        string // the present chain, and its project
	chains, records, applies, broken int
}

// add prints the findings of a chain; v is nil before the first one.
func (s *auditSummary) add(v *audit.Verification) {
	if v == nil {
		return
	}
	found := v.End()
	if len(found) == 0 {
		return
	}
	name := s.chain
	if s.of != "" {
		name = fmt.Sprintf("%s (%s)", s.of, s.chain)
	}
	fmt.Fprintf(s.app.Out, "%s:\n", cli.Plain(name))
	broken := false
	for _, f := range found {
		kind := "Note"
		if f.Break {
			kind, broken = "Error", true
		}
		fmt.Fprintf(s.app.Out, "  %s: record %d. %s\n", kind, f.N, cli.Plain(f.Text))
	}
	if broken {
		s.broken++
	}
	fmt.Fprintln(s.app.Out)
}

// end prints the result, and returns the exit code.
func (s *auditSummary) end() int {
	if s.broken > 0 {
		fmt.Fprintf(s.app.Out, "The records of %s are not in order, of %s in all.\n", states(s.broken), states(s.chains))
		return 2
	}
	fmt.Fprintf(s.app.Out, "The audit records are in order: %d records about %s, with %d applies. Each apply was allowed.\n", s.records, states(s.chains), s.applies)
	return 0
}

func states(n int) string {
	if n == 1 {
		return "1 state"
	}
	return fmt.Sprintf("%d states", n)
}
