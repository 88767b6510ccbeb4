package executor

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/remotestates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// readerOf returns the reader for the states of other projects. It uses the environment variables of plugins.
// It is created at the first call.
func readerOf(o *checkout) *remotestates.Reader {
	if o.remote != nil {
		return o.remote
	}
	o.remote = &remotestates.Reader{Env: slices.Concat(o.env, o.vault.env()), Cipher: func(address string) (*encryption.Cipher, error) {
		s, ds := o.ciphers.baseCiphers(o)
		return s.RemoteState(address), ds.Err()
	}}
	if o.job.Access == jobs.Reads {
		o.remote.Planned = jobs.Outputs(o.job.Foreseen)
	}
	return o.remote
}

// linked returns the values of the variables that are outputs of other projects. An apply uses the values in
// its plan, and reads only outputs that are never saved in a plan. If read is not set, other outputs are not
// read, and their values are unknown.
func linked(ctx context.Context, o *checkout, read bool) (inputs.Source, diags.Diagnostics) {
	in := variableLinks{Job: o.job, Root: o.Config.Root.Content, Budget: o.Budget, Secrets: o.vault.source()}
	if len(o.job.Inputs) == 0 {
		return inputs.Source{}, nil
	}
	unkept := func(l projectinputs.Link) bool { v := in.Root.Variables[l.Variable]; return v != nil && v.Ephemeral }
	if len(o.job.Linked) > 0 && (read || o.job.Access == jobs.Writes && slices.ContainsFunc(o.job.Inputs, unkept)) {
		env, ds := o.environment(ctx)
		if ds.HasErrors() {
			return inputs.Source{}, ds
		}
		o.env = env
		in.Read = readerOf(o).Outputs
	}
	return in.Values(ctx)
}

// relink reads the outputs of other projects once more, and sets the variables that depend on them. It is
// called before an approved plan is made once more.
func relink(ctx context.Context, o *checkout) diags.Diagnostics {
	if len(o.job.Inputs) == 0 {
		return nil
	}
	found, ds := linked(ctx, o, true)
	sources, more := o.sources(found)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	now, ds := inputs.Values(o.Config.Root.Content, sources)
	o.Variables = maps.Clone(o.Variables)
	for _, l := range o.job.Inputs {
		o.Variables[l.Variable] = now[l.Variable]
	}
	return ds
}

// outputs returns the outputs that the state will have after the apply, encoded and encrypted. The plans of
// other projects use them. It returns nil if nobody needs them, or if they cannot be encrypted. Other projects
// are then planned with the outputs in the stored state, and their plans say so.
func (o *checkout) outputs(ctx context.Context, p *plans.Plan) []byte {
	s, ds := o.ciphers.baseCiphers(o)
	if !o.job.Foresee || !p.Applyable || ds.HasErrors() {
		return nil
	}
	out, err := remotestates.Encode(ctx, s.State(), o.State.Current, p)
	if err != nil {
		return nil
	}
	return out
}
