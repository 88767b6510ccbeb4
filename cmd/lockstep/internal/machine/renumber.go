package machine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// renumber moves local states that a former version kept under the names of their repositories to
// their IDs, if the records of runs tell the owners of the names. The error lists the states that
// stay.
func renumber(ctx context.Context, data *localstore.Dir) error {
	names, err := named(data.States)
	if err != nil || len(names) == 0 {
		return err
	}
	all, err := data.Records.All(ctx, "run")
	if err != nil {
		return err
	}
	runs, err := decode(all)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range moves(names, runs) {
		if m.why != "" {
			errs = append(errs, fmt.Errorf("the states of %s stay where they are, and are not used: %s", m.name, m.why))
			continue
		}
		owner, name, _ := strings.Cut(m.name, "/")
		errs = append(errs, renumbered(data.States, owner, name, m.repo))
	}
	return errors.Join(errs...)
}

// A move is the destination of the states of one name.
type move struct {
	name string
	repo int64
	why  string // the reason if they stay
}

// moves decides who owns the states of each name. If a repository has had several names, the newest
// comes first.
func moves(names []string, runs []runs.Run) []move {
	// The numbers of pull requests tell their order.
	newest := map[string]map[int64]int{} // the last pull request, by name, then ID
	for _, r := range runs {
		name := r.Pull.Repo.String()
		if newest[name] == nil {
			newest[name] = map[int64]int{}
		}
		newest[name][r.Pull.Repo.ID] = max(newest[name][r.Pull.Repo.ID], r.Pull.Number)
	}
	var out []move
	for _, name := range names {
		switch ids := slices.Collect(maps.Keys(newest[name])); len(ids) {
		case 0:
			out = append(out, move{name: name, why: "no record says which repository that is"})
		case 1:
			out = append(out, move{name: name, repo: ids[0]})
		default:
			out = append(out, move{name: name, why: "several repositories have had the name"})
		}
	}
	slices.SortStableFunc(out, func(a, b move) int { return newest[b.name][b.repo] - newest[a.name][a.repo] })
	return out
}
