// Package remotestates reads the outputs of other configurations' states, for the data source
// terraform_remote_state, in the runs of pull requests.
//
// A pull request chooses which state it reads. So the state is read only with the credentials of the project's
// providers: a data source of a provider could read the same. The data source selects a state by bucket, key,
// region and workspace, and at most a role that those credentials may assume. It cannot select credentials,
// files of the machine, or hosts. States are in S3, because the states of no other backend outlast the machine
// of a run.
//
// The state may belong to a project that the same pull request changes. The planned outputs of that project
// then replace the stored ones ([Reader.Planned]). Reading them needs the same credentials and the same cipher
// as reading the state. So the state is read first: S3 says that an object does not exist only to a client that
// may read it. No other part of that project's plan is passed on.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
//
// Outputs that are sensitive in their state are returned without a mark, as in Terraform. So code that shows
// anything of the run must first call [Reader.Sensitive]. Inputs of a project that are outputs of other
// projects are read with the same rules, but with marks ([Reader.Outputs]).
//
// The package does not know roles, sessions and reports. Start reading at [Reader.Read].
package remotestates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
)

// dataSource is the type name of the data source that this package implements.
const dataSource = "terraform_remote_state"

// A Reader reads states of other projects for one run. It is safe for concurrent use. The methods of a nil
// Reader report that nothing was read.
type Reader struct {
	// Env are the environment variables of the project's providers, "NAME=value" each. A later entry overrides
	// an earlier one.
	Env []string
	// Cipher returns the cipher for the state that a data source reads, from the encryption block of the
	// configuration. address is the address of the data source. The result may be nil.
	Cipher func(address string) (*encryption.Cipher, error)
	// Planned are the outputs that states will have, as [Encode] returns them. The keys are addresses of
	// states, from places.Place.String. They replace the outputs in the stored state. For a state that is not
	// listed, the stored outputs are used.
	Planned map[string][]byte

	mu        sync.Mutex
	sensitive []cty.Value
	asked     map[string]bool // places of Planned that were read
}

// Uses reports whether a configuration has a terraform_remote_state data source.
func Uses(c *config.Config) bool {
	for _, m := range c.Order {
		for addr := range m.Resources {
			if addr.Mode == addrs.Data && addr.Type == dataSource {
				return true
			}
		}
	}
	return false
}

// Read returns the outputs of another configuration's state; it implements [builtin.RemoteState]. The error is
// for people and contains no credentials.
func (r *Reader) Read(ctx context.Context, backend string, arguments cty.Value, workspace string) (map[string]cty.Value, error) {
	stored, err := r.read(ctx, backend, arguments, workspace)
	if err != nil {
		return nil, err
	}
	values := map[string]cty.Value{}
	for name, o := range stored {
		values[name] = o.Value
	}
	return values, nil
}

// read returns the outputs of a state. It also records the sensitive ones, for [Reader.Sensitive].
func (r *Reader) read(ctx context.Context, backend string, arguments cty.Value, workspace string) (map[string]states.Output, error) {
	if backend != "s3" {
		return nil, unreachable(backend)
	}
	s, err := workdir.RemoteSettings(backend, arguments)
	if err != nil {
		return nil, err
	}
	place, _ := places.Of(backend, s.Attributes, workspace) // no plan writes to a state without a place
	return r.at(ctx, place.String(), s.Attributes, workspace)
}

// at returns the outputs of the state at a place in S3. It adds credentials and region to the arguments of the
// backend.
func (r *Reader) at(ctx context.Context, place string, arguments map[string]any, workspace string) (map[string]states.Output, error) {
	if err := r.complete(arguments); err != nil {
		return nil, err
	}
	b, err := s3.Open(ctx, arguments, s3.Options{})
	if err != nil {
		return nil, err
	}
	cipher, err := r.Cipher(provider.Reading(ctx))
	if err != nil {
		return nil, err
	}
	stored, err := workdir.Outputs(ctx, encryption.Wrap(b, cipher), workspace)
	if err != nil && !errors.Is(err, builtin.ErrNoState) {
		return nil, err // who may not read the state may not read its planned outputs either
	}
	planned, missing := r.planned(ctx, place, cipher)
	if missing != nil {
		return nil, missing
	}
	for _, all := range []map[string]states.Output{stored, planned} {
		for _, o := range all {
			if o.Sensitive {
				r.keep(o.Value)
			}
		}
	}
	if planned != nil {
		return planned, nil
	}
	return stored, err
}

func unreachable(backend string) error {
	return fmt.Errorf("the state is in the backend %q, which runs of pull requests cannot reach: keep it in S3", backend)
}

// Outputs returns the outputs of the state at a place, with the same rules as [Reader.Read]. name is the name
// by which the encryption block configures the state's cipher. Outputs does not lock the state, so the right to
// read the object is enough. The error is for people and contains no credentials. It wraps [builtin.ErrNoState]
// if there is no state.
func (r *Reader) Outputs(ctx context.Context, name string, place places.Place) (map[string]states.Output, error) {
	if place.Backend != "s3" {
		return nil, unreachable(place.Backend)
	}
	arguments := place.With(places.TableArgument, nil).With(places.FileArgument, nil).Block()
	return r.at(provider.WithReading(ctx, name), place.String(), arguments, statebackend.DefaultWorkspace)
}

// keep adds values to those that [Reader.Sensitive] returns.
func (r *Reader) keep(values ...cty.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sensitive = append(r.sensitive, values...)
}

// complete checks the arguments of the backend, and adds credentials and region to them.
func (r *Reader) complete(arguments map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if name != "assume_role" && !places.Selects(name) {
			return fmt.Errorf("the argument %q is not for a pull request to say: the state is read with the credentials of the project's providers, at addresses of AWS's own. Remove it", name)
		}
	}
	env := map[string]string{}
	for _, kv := range r.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	if env["AWS_ACCESS_KEY_ID"] == "" || env["AWS_SECRET_ACCESS_KEY"] == "" {
		return errors.New("the project's providers have no AWS credentials to read it with: give the project's environment a plan_role and an apply_role, in lockstep.hcl on the base branch")
	}
	arguments["access_key"], arguments["secret_key"], arguments["token"] = env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"]
	if region := cmp.Or(env["AWS_REGION"], env["AWS_DEFAULT_REGION"]); arguments["region"] == nil && region != "" {
		arguments["region"] = region
	}
	return nil
}

// Sensitive returns the values of all sensitive outputs that were read.
func (r *Reader) Sensitive() []cty.Value {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sensitive)
}

// object is the type of the data source's value in a state.
var object = cty.Object(map[string]cty.Type{
	"backend": cty.String, "config": cty.DynamicPseudoType, "defaults": cty.DynamicPseudoType,
	"outputs": cty.DynamicPseudoType, "workspace": cty.String,
})

// Recall finds the sensitive values among the outputs that another process has read for a plan, and adds them
// to [Reader.Sensitive]:
//   - If a state can no longer be read, all its outputs count as sensitive.
//   - If it can, the present sensitive outputs count. An output whose value has changed counts, too: a password
//     is still a secret after its rotation.
//   - If the reader has Planned outputs, which change with each plan, the earlier value counts only if the
//     output is sensitive now.
func (r *Reader) Recall(ctx context.Context, p *plans.Plan) error {
	for _, c := range p.Changes {
		if at := c.Addr.Instance.Resource.Resource; c.Action == plans.Read && at.Mode == addrs.Data && at.Type == dataSource {
			r.recall(ctx, c.Addr.Instance.String(), marks.Plain(c.After))
		}
	}
	if p.PriorState == nil {
		return nil
	}
	for addr, x := range p.PriorState.Resources() {
		if addr.Resource.Mode != addrs.Data || addr.Resource.Type != dataSource {
			continue
		}
		for key, in := range x.Instances {
			if in.Current == nil {
				continue
			}
			name := addr.Instance(key).String()
			v, err := ctyjson.Unmarshal(in.Current.AttrsJSON, object)
			if err != nil {
				return fmt.Errorf("decode %s: %w", name, err)
			}
			r.recall(ctx, name, v)
		}
	}
	return nil
}

// recall does the work of [Reader.Recall] for one data source. name is its address.
func (r *Reader) recall(ctx context.Context, name string, source cty.Value) {
	now, err := r.readAgain(provider.WithReading(ctx, name), source)
	if err != nil {
		r.keep(source.GetAttr("outputs"))
		return
	}
	r.keep(changed(source, now, r.Planned != nil)...)
}

// readAgain reads the state of a data source with the arguments that were used earlier. They come from a state,
// which a person may have edited.
func (r *Reader) readAgain(ctx context.Context, source cty.Value) (map[string]states.Output, error) {
	backend := source.GetAttr("backend")
	if backend.IsNull() {
		return nil, errors.New("it has no backend")
	}
	for _, name := range []string{"backend", "config", "workspace"} {
		if !source.GetAttr(name).IsWhollyKnown() {
			return nil, errors.New("it was not known where it is")
		}
	}
	workspace := statebackend.DefaultWorkspace
	if w := source.GetAttr("workspace"); !w.IsNull() {
		workspace = w.AsString()
	}
	return r.read(ctx, backend.AsString(), source.GetAttr("config"), workspace)
}

// changed returns those outputs of a data source whose values differ from the present state (now). It leaves
// out defaults, because everybody can read them in the configuration. If shown is set, it also leaves out
// outputs that are not sensitive now.
func changed(source cty.Value, now map[string]states.Output, shown bool) (out []cty.Value) {
	outputs := source.GetAttr("outputs")
	if !keyed(outputs) {
		return []cty.Value{outputs}
	}
	var defaults map[string]cty.Value
	if d := source.GetAttr("defaults"); keyed(d) {
		defaults = d.AsValueMap()
	}
	for name, v := range outputs.AsValueMap() {
		if o, ok := now[name]; ok && (o.Value.RawEquals(v) || shown && !o.Sensitive) {
			continue
		}
		if d, ok := defaults[name]; ok && d.RawEquals(v) {
			continue
		}
		out = append(out, v)
	}
	return out
}

// keyed reports whether a value is an object or a map.
func keyed(v cty.Value) bool {
	return v.IsKnown() && !v.IsNull() && (v.Type().IsObjectType() || v.Type().IsMapType())
}
