package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

var errNoRights = errors.New("a query needs the rights of a plan")

// maxFound is the number of objects at which a query ends.
const maxFound = 10_000

// Query implements jobs.Engine.
func (e *Engine) Query(ctx context.Context, j jobs.Job, room int) (comment.Queried, string, error) {
	none := comment.Queried{}
	if j.Snapshot != nil {
		return none, "", errNoRights
	}
	j.Access, j.Queries = jobs.Reads, true
	o, ds, err := e.open(ctx, j, true)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return none, "", fmt.Errorf("open %s: %w", describe(j), err)
	}
	found := &inventory{room: room, result: comment.Queried{Project: j.Project, Dir: j.Dir}}
	ds = append(ds, o.query(ctx, ds, found)...)
	if ctx.Err() != nil {
		return none, "", fmt.Errorf("query %s: %w", describe(j), context.Cause(ctx))
	}
	r := o.reporter(o.secrets(nil, nil))
	report, _ := r.within(ds, reportLimit)
	if ds.HasErrors() {
		return none, report, nil
	}
	return found.done(report).Each(r.hide.From, room), "", nil
}

// query runs the list blocks. ds are the diagnostics of opening the checkout.
func (o *checkout) query(ctx context.Context, ds diags.Diagnostics, found *inventory) diags.Diagnostics {
	if ds.HasErrors() {
		return nil
	}
	if len(o.Config.Root.Lists) == 0 {
		return diags.Errorf(nil, "No list blocks", "The directory %s has no list blocks, which say what to find. Write one into a file whose name ends with .tfquery.hcl.", o.job.Dir)
	}
	b, ds := o.encryptedBackend(ctx)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.readState(ctx, b)...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.providers(ctx)...); ds.HasErrors() {
		return ds
	}
	found.read(o.State.Current)
	found.hide = o.secrets(nil, nil)
	return append(ds, engine.Query(ctx, o.run(ctx), engine.QueryOptions{Generate: found.room > 0, Tell: found.hear})...)
}

// An inventory compares the objects that a query finds with those of a state.
type inventory struct {
	room    int               // for configuration, in bytes
	hide    *secrets          // secrets that generated configuration must not contain; nil for none
	managed map[string]string // addresses, by type and identity
	unknown map[string]int    // objects without an identity, by type
	total   int
	config  strings.Builder
	result  comment.Queried
	known   []comment.QueriedObject // objects that the state has
}

// read reads the identities of a state.
func (x *inventory) read(s *states.State) {
	x.managed, x.unknown = map[string]string{}, map[string]int{}
	for addr, r := range s.Resources() {
		if addr.Resource.Mode != addrs.Managed {
			continue
		}
		for key, in := range r.Instances {
			switch {
			case in.Current == nil:
			case in.Current.Identity.JSON == nil:
				x.unknown[addr.Resource.Type]++
			default:
				x.managed[addr.Resource.Type+" "+canonical(in.Current.Identity.JSON)] = addr.Instance(key).String()
			}
		}
	}
}

// canonical returns an identity as JSON with sorted names, without null values, because a provider may or may
// not include null values.
func canonical(data []byte) string {
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return string(data)
	}
	for name, part := range v {
		if part == nil {
			delete(v, name)
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return string(data)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// identityOf returns an identity as canonical JSON.
func identityOf(v cty.Value) string {
	data, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return ""
	}
	return canonical(data)
}

// hear handles an event of the query. It returns false if there are too many objects.
func (x *inventory) hear(e events.Query) bool {
	switch e.Kind {
	case events.QueryStart:
		x.result.Lists = append(x.result.Lists, comment.QueriedList{Address: e.Address, Unknown: x.unknown[e.Type]})
		delete(x.unknown, e.Type) // counted once
	case events.QueryFound:
		x.found(e)
		if x.total++; x.total == maxFound {
			x.result.Ended = true
			return false
		}
	}
	return true
}

func (x *inventory) found(e events.Query) {
	l := &x.result.Lists[len(x.result.Lists)-1]
	l.Found++
	one := comment.QueriedObject{List: e.Address, Name: e.Found.DisplayName, Identity: identityOf(e.Found.Identity)}
	one.Managed = x.managed[e.Type+" "+one.Identity]
	if one.Managed != "" {
		l.Managed++
		if len(x.known) < comment.MaxQueried {
			x.known = append(x.known, one)
		}
		return
	}
	if len(x.result.Objects) < comment.MaxQueried {
		x.result.Objects = append(x.result.Objects, one)
	}
	if x.room == 0 {
		return
	}
	text := e.Found.Resource + "\n\n" + e.Found.Import + "\n\n"
	switch {
	// A secret in the text was replaced. An apply of such configuration would change the object.
	case x.hide != nil && x.hide.From(text) != text:
		x.result.Secret++
	case x.result.Without > 0 || x.config.Len()+len(text) > x.room:
		x.result.Without++
	default:
		x.config.WriteString(text)
	}
}

// done returns the result. warnings are those of the query.
func (x *inventory) done(warnings string) comment.Queried {
	x.result.Objects = append(x.result.Objects, x.known...)
	x.result.Objects = x.result.Objects[:min(len(x.result.Objects), comment.MaxQueried)]
	x.result.Config, x.result.Warnings = strings.TrimSuffix(x.config.String(), "\n"), warnings
	return x.result
}
