package statekeeping

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/functions/operation"
)

// unresolvedCode is the exit code if Lockstep still does not know the results of some creations or actions.
const unresolvedCode = 2

var Recover = cli.Command{Name: "recover", Synopsis: "Bring the results of a killed apply into the state", Run: func(a *cli.App, args []string) int {
	x := opening.Access{Lock: "recover"}
	var asJSON, retryAll bool
	var forget, retry string
	f := a.NewFlags("recover", "recover [OPTIONS] [ADDRESS...]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	editing(f, &x)
	f.BoolVar(&asJSON, "json", false, "print the unresolved creations as JSON")
	f.StringVar(&forget, "forget", "", "the object at this address does not exist, its action is done, or the state is right about it; more addresses can follow the options")
	f.StringVar(&retry, "retry", "", "create the object at this address again, or invoke its action again; more addresses can follow the options")
	f.BoolVar(&retryAll, "retry-all", false, "create all objects and invoke all actions again that are unresolved")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	given := 0
	settled := f.Args()
	for _, address := range []string{forget, retry} {
		if address != "" {
			given++
			settled = append([]string{address}, settled...)
		}
	}
	switch {
	case given == 0 && len(settled) > 0:
		return a.Usage("run `lockstep recover` for a list of what is unresolved. For an address in the list, write -forget ADDRESS if the object does not exist, or -retry ADDRESS to create it again", "recover cannot know without an option what to do with %s", strings.Join(settled, ", "))
	case given > 1, retryAll && len(settled) > 0:
		return a.Usage("give one of them, and run the command once for each", "-forget, -retry and -retry-all cannot be used together")
	}
	op, ds := opening.Stored(a, x)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	dead := op.State.Holding().Predecessor()
	if retryAll {
		for _, u := range op.Recovery.Unresolved {
			settled = append(settled, u.Address)
		}
	}
	unknown, err := op.Settle(a.Ctx, forget == "", settled...)
	switch {
	case err != nil:
		op.Unlock(a.Ctx)
		return a.Usage("nothing was settled: run the same command again", "the journal could not be written: %s", err)
	case len(unknown) > 0:
		op.Unlock(a.Ctx)
		return a.Usage("run `lockstep recover` for a list of what is unresolved", "the last apply left nothing unresolved for %s, so nothing was changed", strings.Join(unknown, ", "))
	}
	ds = op.Unlock(a.Ctx)
	if asJSON {
		printRecovery(a, op.Recovery)
	} else {
		if dead != "" {
			fmt.Fprintf(a.Out, "Lockstep took over the lock of a run that has ended: %s.\n", dead)
		}
		if len(settled) > 0 {
			tellSettled(a, settled, forget == "")
		} else {
			tellRecovery(a, op.Recovery)
		}
		if len(op.Recovery.Unresolved) > 0 {
			fmt.Fprintf(a.Out, "\n%s\n", operation.Doubts(op.Recovery.Unresolved, op.State.Current, len(op.Recovery.Unresolved)))
		}
	}
	if code := a.Show(ds); code != 0 {
		return code
	}
	if len(op.Recovery.Unresolved) > 0 {
		return unresolvedCode
	}
	return 0
}}

// unresolved describes an unresolved creation in the JSON output: an object that may or may not have been
// created.
type unresolved struct {
	Address string            `json:"address"`
	Action  string            `json:"action"`
	Started time.Time         `json:"started"`
	Known   map[string]string `json:"known,omitempty"`
	Invokes string            `json:"invokes,omitempty"` // the action whose end is not known
}

// conflicting describes a conflict in the JSON output of the command recover.
type conflicting struct {
	Address string    `json:"address"`
	Done    string    `json:"done"` // by the apply: "changed" or "deleted"
	Since   time.Time `json:"since"`
}

func printRecovery(a *cli.App, r operation.Recovery) {
	out := struct {
		Unresolved []unresolved  `json:"unresolved"`
		Conflicts  []conflicting `json:"conflicts,omitempty"`
	}{Unresolved: []unresolved{}}
	for _, u := range r.Unresolved {
		out.Unresolved = append(out.Unresolved, unresolved{u.Address, u.Action, u.Started, u.Known, u.Invokes})
	}
	for _, c := range r.Conflicts {
		done := "changed"
		if c.Gone {
			done = "deleted"
		}
		out.Conflicts = append(out.Conflicts, conflicting{c.Address, done, c.Since})
	}
	e := json.NewEncoder(a.Out)
	e.SetIndent("", "  ")
	e.Encode(out)
}

func tellRecovery(a *cli.App, r operation.Recovery) {
	switch {
	case r.Folded, len(r.Read) > 0:
		fmt.Fprintln(a.Out, "The last apply was interrupted. Its results are now in the state.")
	case len(r.Unresolved) == 0 && len(r.Conflicts) == 0:
		fmt.Fprintln(a.Out, "Nothing to recover: the last apply finished.")
	}
	for _, x := range r.Read {
		fmt.Fprintf(a.Out, "\nThe apply was interrupted during the %s of %s. Run \"lockstep plan\": it reads the object and shows the result.\n", x.Action, x.Address)
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(a.Out, "\nThe interrupted apply changed %s, and later somebody else wrote it into the state. Lockstep kept the later entry.\nCompare it with the real object, then run: lockstep recover -forget '%s'\n", c.Address, strings.ReplaceAll(c.Address, "'", `'\''`))
	}
}

// tellSettled prints what happens to objects of an interrupted apply, after the user has decided about them.
// again is set if the next plan will create these objects once more.
func tellSettled(a *cli.App, addresses []string, again bool) {
	if again {
		fmt.Fprintf(a.Out, "The next plan creates these objects again, or invokes their pending actions again: %s.\nIf the provider refuses because an object exists, import it: lockstep import 'ADDRESS' ID\n", strings.Join(addresses, ", "))
		return
	}
	fmt.Fprintf(a.Out, "Settled: %s.\n", strings.Join(addresses, ", "))
}
