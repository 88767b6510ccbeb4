package operating

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// lock opens the project's state, takes its lock and reads it. operation is
// Terraform's word for what it is for. Closing the operation releases the lock.
func (o *operation) lock(ctx context.Context, operation string) diags.Diagnostics {
	b, ds := o.backend(ctx)
	if ds.HasErrors() {
		return ds
	}
	st, more := workdir.OpenState(b, o.stateWorkspace())
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	o.state = st
	info := statebackend.NewLockInfo(operation, engine.LanguageVersion)
	info.Info = lockText(o.job)
	if ds = append(ds, st.Lock(ctx, info, 0)...); ds.HasErrors() {
		return ds
	}
	// An interrupted operation must release it, too.
	o.closers = append(o.closers, func() { st.Unlock(context.WithoutCancel(ctx)) })
	return append(ds, st.Read(ctx)...)
}

// lockText is what the lock says to whoever meets it, by our tools or others. It
// begins with the job's owner, by which unlock knows it.
func lockText(j run.Job) string {
	return fmt.Sprintf("%s: a run of project %s at %.7s; if it is gone for good, comment \"lockstep unlock -p %s\" on pull request #%d rather than force-unlock", j.Owner, j.Project, j.Head, j.Project, j.Number)
}

// holds reports whether a lock that says text was taken for a job's owner.
func holds(j run.Job, text string) bool { return strings.HasPrefix(text, j.Owner+": ") }

func (o *operation) backend(ctx context.Context) (statebackend.Backend, diags.Diagnostics) {
	settings, ds := workdir.Configured(o.cfg.Root.Backend, nil)
	if ds.HasErrors() {
		return nil, ds
	}
	o.settings = settings
	b, more := o.engine.Backend(ctx, o.job, settings)
	if o.cfg.Root.Backend != nil {
		for i := range more {
			if more[i].Subject == nil {
				more[i].Subject = &o.cfg.Root.Backend.Range
			}
		}
	}
	return b, append(ds, more...)
}

// stateWorkspace is the workspace to open in the backend. A local state has a
// directory of its own for each workspace already.
func (o *operation) stateWorkspace() string {
	if o.settings.Name() == "local" {
		return statebackend.DefaultWorkspace
	}
	return o.job.Workspace
}

// stateID says which state was read or written last.
func (o *operation) stateID() run.StateID {
	if o.state == nil || !o.state.Exists() {
		return run.StateID{}
	}
	return run.StateID{Lineage: o.state.Current.Lineage, Serial: o.state.Current.Serial, Version: string(o.state.Version())}
}

// rescue keeps a state that its backend did not take: it is all that is known of what
// exists now.
func (o *operation) rescue(ctx context.Context, s *states.State) diags.Diagnostics {
	data, err := statefile.Write(o.state.Next(s))
	name := fmt.Sprintf("%s-%s-%s-%s.tfstate", segment(o.job.Repo.Owner), segment(o.job.Repo.Name), segment(o.job.Project), time.Now().UTC().Format("20060102T150405.000"))
	where := "the file " + name
	switch {
	case err != nil:
	case o.engine.Rescue != nil:
		where, err = o.engine.Rescue(context.WithoutCancel(ctx), o.job, name, data)
	case o.engine.Rescued == "":
		err = errors.New("no directory is set for such states")
	default:
		if err = os.MkdirAll(o.engine.Rescued, 0o700); err == nil {
			err = os.WriteFile(filepath.Join(o.engine.Rescued, name), data, 0o600)
		}
	}
	if err != nil {
		return diags.FromError("The new state is lost", fmt.Errorf("neither the backend nor this machine could keep it: %w. What was made has to be imported", err))
	}
	return diags.Errorf(nil, "The new state is not in its backend",
		"The backend did not take the state that describes what exists now. Whoever runs Lockstep has it in %s: push it with \"lockstep state push\" before anything else is applied.", where)
}

// Unlock implements run.Engine.
func (e *Engine) Unlock(ctx context.Context, j run.Job) (int, error) {
	o, ds, err := e.open(ctx, j, false)
	defer o.close()
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", describe(j), err)
	}
	if o.cfg.Root.Broken() {
		return 0, &run.NoStateError{Why: o.reason(ds)}
	}
	b, ds := o.backend(ctx)
	if ds.HasErrors() {
		return 0, &run.NoStateError{Why: o.reason(ds)}
	}
	w, err := b.Open(o.stateWorkspace())
	if err != nil {
		return 0, fmt.Errorf("open the state of %s: %w", describe(j), err)
	}
	locks, err := w.Locks(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for locks of %s: %w", describe(j), err)
	}
	n := 0
	for _, l := range locks {
		if !holds(j, l.Info.Info) {
			continue
		}
		if err := w.Unlock(ctx, l.Info.ID); err != nil && !errors.Is(err, statebackend.ErrNotLocked) {
			return n, fmt.Errorf("unlock %s: %w", describe(j), err)
		}
		n++
	}
	return n, nil
}

// reason is what the errors of ds say, without what is secret.
func (o *operation) reason(ds diags.Diagnostics) string {
	return o.secrets(nil, nil).from(ds.Error())
}
