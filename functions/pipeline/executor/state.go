package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// lock opens the state of the project, locks it and reads it. word is Terraform's word for the operation.
// Closing the checkout releases the lock.
func (o *checkout) lock(ctx context.Context, word string) diags.Diagnostics {
	b, ds := o.encryptedBackend(ctx)
	if ds.HasErrors() {
		return ds
	}
	ds = append(ds, o.OpenState(ctx, b, statebackend.DefaultWorkspace, &operation.Lock{
		Operation: word, Info: lockText(o.job), Run: o.job.Run, HardStop: o.job.Times.HardStop, Continues: o.job.Continues,
		Refused: func(err error) diags.Diagnostics {
			var locked *statebackend.LockedError
			if errors.As(err, &locked) {
				return lockedBy(o.job, locked)
			}
			return diags.FromError(notLocked, err)
		},
	})...)
	o.OnClose(func() { o.Unlock(ctx) })
	return ds
}

// notLocked is the summary of the error that a state cannot be locked. The words are Terraform's, because
// programs search logs for them.
const notLocked = "Error acquiring the state lock"

// lockedBy returns the error that somebody else has locked the state: who that is, and what to do on the pull
// request.
func lockedBy(j jobs.Job, e *statebackend.LockedError) diags.Diagnostics {
	at := e.Info
	if at.ID == "" {
		why := ""
		if e.Err != nil {
			why = ": " + e.Err.Error()
		}
		return diags.Errorf(nil, notLocked, "The state of %s is locked, and who holds the lock is not known%s. Wait until the holder has finished, and try again.", j.Project, why)
	}
	since := at.Created.UTC().Format(time.RFC3339)
	owner, project, ours := holderOf(j, at.Info)
	unlock := "lockstep unlock -p " + project
	if e.Lease != nil {
		return leasedBy(j, e)
	}
	switch {
	case ours && owner == j.Owner:
		by := "a run of this pull request"
		if project != j.Project {
			by += ", of the project " + project
		}
		return diags.Errorf(nil, notLocked,
			"The state of %s is locked since %s by %s. Wait until that run has finished. If none is in progress, the run ended without releasing its lock: comment \"%s\" on pull request #%d, and try again.",
			j.Project, since, by, unlock, j.Number)
	case ours:
		return diags.Errorf(nil, notLocked,
			"The state of %s is locked since %s by a run of another pull request: %s. Wait until that run has finished. If none is in progress there, comment \"%s\" on that pull request.",
			j.Project, since, owner, unlock)
	}
	return diags.Errorf(nil, notLocked,
		"The state of %s is locked since %s by %s, with the lock %s for %s. Wait until this has finished, and try again. If nothing is in progress there any more, release the lock on that machine: \"lockstep unlock\" in a comment releases only locks of pull requests.",
		j.Project, since, at.Who, at.ID, at.Operation)
}

// leasedBy is like lockedBy, for a lock with a lease. Such a lock ends by itself.
func leasedBy(j jobs.Job, e *statebackend.LockedError) diags.Diagnostics {
	since, end := e.Info.Created.UTC().Format(time.RFC3339), e.Lease.End().UTC().Format(time.RFC3339)
	owner, project, ours := holderOf(j, e.Info.Info)
	who, sooner := e.Info.Who, ""
	switch {
	case ours && owner == j.Owner:
		who = "a run of this pull request, of the project " + project
		sooner = fmt.Sprintf(" To release the lock at once, comment \"lockstep unlock -p %s\" on pull request #%d, and try again.", project, j.Number)
	case ours:
		who = "a run of another pull request: " + owner
	}
	return diags.Errorf(nil, notLocked,
		"The state of %s is locked since %s by %s. Wait until that run has finished. If it has died, you do not have to do anything: the lock expires at %s, and the next run takes it over.%s",
		j.Project, since, who, end, sooner)
}

// lockText returns the text of a lock that Lockstep takes. Every tool shows it to people who find the state
// locked. It begins with the job's pull request, by which `lockstep unlock` finds the lock.
func lockText(j jobs.Job) string {
	return fmt.Sprintf("%s: a run of project %s at %.7s%s; if it is gone for good, comment \"lockstep unlock -p %s\" on pull request #%d rather than force-unlock", j.Owner, j.Project, j.Head, repository(j), j.Project, j.Number)
}

// repository returns a part of a lock's text that identifies the job's repository by its ID. It stays the same
// if the repository is renamed.
func repository(j jobs.Job) string { return fmt.Sprintf(" in the repository %d", j.Repo.ID) }

// holderOf parses the text of a lock. owner is the pull request of the lock's job ("lockstep acme/infra#7"),
// and project its project. An owner with an earlier name of j's repository is returned with the present name.
// ours is false if Lockstep has not written the text.
func holderOf(j jobs.Job, text string) (owner, project string, ours bool) {
	owner, rest, ours := strings.Cut(text, ": a run of project ")
	project, rest, _ = strings.Cut(rest, " at ")
	_, number, _ := strings.Cut(owner, "#")
	app, _, several := strings.Cut(strings.TrimPrefix(owner, "lockstep "), ":")
	same := j.App == "" && !several || several && app == j.App
	if head, _, _ := strings.Cut(rest, ";"); same && number == strconv.Itoa(j.Number) && strings.HasSuffix(head, repository(j)) {
		owner = j.Owner
	}
	return owner, project, ours && strings.HasPrefix(owner, "lockstep ")
}

// holds reports whether the lock with this text was taken for the job's pull request and project. The project
// matters: during an apply, a push can move a state to a project with another name. Only the run of the former
// project knows whether that apply is still running.
func holds(j jobs.Job, text string) bool {
	owner, project, ours := holderOf(j, text)
	return ours && owner == j.Owner && project == j.Project
}

func (o *checkout) backend(ctx context.Context) (statebackend.Backend, diags.Diagnostics) {
	arguments, err := decoded(o.job.BackendConfig)
	if err != nil {
		return nil, diags.FromError("The backend_config in lockstep.hcl cannot be read", err)
	}
	settings, ds := workdir.Configured(o.Config.Root.Backend, arguments)
	for i := range ds {
		ds[i].Detail = strings.Replace(ds[i].Detail, "given on the command line", "given by backend_config in lockstep.hcl", 1)
	}
	if ds.HasErrors() {
		return nil, ds
	}
	o.Settings = settings
	b, more := o.engine.Backend(ctx, o.job, settings)
	if o.Config.Root.Backend != nil {
		for i := range more {
			if more[i].Subject == nil {
				more[i].Subject = &o.Config.Root.Backend.Range
			}
		}
	}
	return b, append(ds, more...)
}

// decoded returns JSON values as Go values, by name. null counts as not set.
func decoded(values map[string]json.RawMessage) (map[string]any, error) {
	out := map[string]any{}
	for name, data := range values {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return nil, fmt.Errorf("the value of %s: %w", name, err)
		}
		if v != nil {
			out[name] = v
		}
	}
	return out, nil
}

// stateID identifies the state that this checkout has last read or written.
func (o *checkout) stateID() runs.StateID {
	if o.State == nil || !o.State.Exists() {
		return runs.StateID{}
	}
	return runs.StateID{Lineage: o.State.Current.Lineage, Serial: o.State.Current.Serial, Version: string(o.State.Version())}
}

// rescue stores a state in another place, after its backend has refused to store it. Without the state,
// nothing describes the present objects. It returns an error that says where the state is.
func (o *checkout) rescue(ctx context.Context, s *states.State) diags.Diagnostics {
	data, err := o.State.Sealed(context.WithoutCancel(ctx), s)
	name := fmt.Sprintf("%s-%s-%s-%s.tfstate", segment(o.job.Repo.Owner), segment(o.job.Repo.Name), segment(o.job.Project), time.Now().UTC().Format("20060102T150405.000"))
	where := "the file " + name
	switch {
	case err != nil:
	case o.engine.Rescue != nil:
		where, err = o.engine.Rescue(context.WithoutCancel(ctx), o.job, name, data)
	case o.engine.Rescued == "":
		err = errors.New("no directory is set for such states")
	default:
		_, err = KeepRescued(o.engine.Rescued, name, data)
	}
	if err != nil {
		return diags.FromError("The new state is lost", fmt.Errorf("neither the backend nor this machine could keep it: %w. What was made has to be imported", err))
	}
	return diags.Errorf(nil, "The new state is not in its backend",
		"The backend did not accept the new state, which describes the real objects. An operator of Lockstep has to push it from %s with \"lockstep state push\" before anything else is applied.", where)
}

// KeepRescued writes a state to a file in dir, because the backend has refused to store the state. It returns
// a text for people that names the file.
func KeepRescued(dir, name string, state []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return "the file " + name, os.WriteFile(filepath.Join(dir, name), state, 0o600)
}

// Unlock releases a lock of an earlier run on the state; it implements jobs.Engine.
func (e *Engine) Unlock(ctx context.Context, j jobs.Job) (jobs.Unlocked, error) {
	var u jobs.Unlocked
	j.Access = jobs.Unlocks
	o, ds, err := e.open(ctx, j, false)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return u, fmt.Errorf("open %s: %w", describe(j), err)
	}
	if o.Config.Root.Broken {
		return u, &jobs.StateError{Why: o.reason(ds), Remedy: correct}
	}
	b, ds := o.backend(ctx)
	if ds.HasErrors() {
		return u, &jobs.StateError{Why: o.reason(ds), Remedy: correct}
	}
	w, err := b.Open(statebackend.DefaultWorkspace)
	if err != nil {
		return u, fmt.Errorf("open the state of %s: %w", describe(j), err)
	}
	locks, err := w.Locks(ctx)
	if err != nil {
		return u, o.denied(fmt.Errorf("look for locks of %s: %w", describe(j), err))
	}
	for _, l := range locks {
		if !holds(j, l.Info.Info) {
			u.Others = append(u.Others, heldBy(j, l))
			continue
		}
		if err := w.Unlock(ctx, l.Info.ID); err != nil && !errors.Is(err, statebackend.ErrNotLocked) {
			return u, o.denied(fmt.Errorf("unlock %s: %w", describe(j), err))
		}
		u.Locks++
	}
	slices.Sort(u.Others)
	u.Others = slices.Compact(u.Others) // One holder may have several kinds of locks.
	return u, nil
}

// heldBy returns a sentence that says who holds a lock that this job must not release.
func heldBy(j jobs.Job, l statebackend.HeldLock) string {
	if l.Info.ID == "" {
		return "somebody unknown"
	}
	who := l.Info.Who
	if owner, project, ours := holderOf(j, l.Info.Info); ours {
		who = owner
		if owner == j.Owner {
			who = "the project " + project + " of this pull request"
		}
	}
	return fmt.Sprintf("%s since %s", who, l.Info.Created.UTC().Format(time.RFC3339))
}

// correct is the advice after errors in the configuration that prevent an unlock.
const correct = "Correct the configuration, push, and unlock again."

// denied returns err as a refusal with a reason for people, if the store has denied access. It returns any
// other error unchanged.
func (o *checkout) denied(err error) error {
	if !errors.Is(err, statebackend.ErrDenied) {
		return err
	}
	return &jobs.StateError{
		Why:    o.secrets(nil, nil).From(err.Error()),
		Remedy: "An operator of Lockstep has to give it access to this state and its locks.",
	}
}

// reason returns the errors in ds as one text without secrets.
func (o *checkout) reason(ds diags.Diagnostics) string {
	return o.secrets(nil, nil).From(ds.Error())
}
