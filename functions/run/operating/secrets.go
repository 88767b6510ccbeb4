package operating

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// secrets are texts that must not be shown, wherever they turn up.
type secrets map[string]bool

// Shorter ones are not looked for: they are parts of too many words, and taking them
// out would tell where they were.
const shortestSecret = 5

// hidden stands where a secret was.
const hidden = "(sensitive value)"

// secrets collects what an operation must not show: our own credentials and those of
// plugins; sensitive variables; what is sensitive in the states before and after, as
// marks or schemas say; and in the plan. plan and after may be nil.
func (o *operation) secrets(p *plans.Plan, after *states.State) secrets {
	found := secrets{}
	if o.engine.Secrets != nil {
		for _, s := range o.engine.Secrets() {
			found.add(s)
		}
	}
	for _, s := range SecretsIn(o.env) {
		found.add(s)
	}
	if o.cfg != nil && o.cfg.Root != nil && o.cfg.Root.Content != nil {
		for name, v := range o.cfg.Root.Variables {
			if value, ok := o.variables[name]; ok && (v.Sensitive || v.Ephemeral) {
				found.all(value)
			}
		}
	}
	if o.state != nil {
		found.stored(o, o.state.Current)
	}
	found.stored(o, after)
	if p == nil {
		return found
	}
	found.stored(o, p.PriorState)
	for _, c := range slices.Concat(p.Changes, p.Drift) {
		found.marked(c.Before)
		found.marked(c.After)
	}
	for _, c := range p.Outputs {
		if c.Sensitive {
			found.all(c.Before)
			found.all(c.After)
		}
	}
	return found
}

// SecretsIn returns the values in an environment whose names say that they are secret.
func SecretsIn(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name)
		for _, word := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PRIVATE", "CREDENTIAL", "ACCESS_KEY", "API_KEY", "APIKEY"} {
			if value != "" && strings.Contains(name, word) {
				out = append(out, value)
				break
			}
		}
	}
	return out
}

// stored takes what is sensitive in a state: by what it says itself, and by the schemas
// that are known, for it may have been written by tools that note less.
func (s secrets) stored(o *operation, state *states.State) {
	if state == nil {
		return
	}
	for _, out := range state.Outputs() {
		if out.Sensitive {
			s.all(out.Value)
		}
	}
	for addr, r := range state.Resources() {
		var block *schema.Block
		if p := o.schemas(r.Provider.Provider); p != nil {
			if rs := p.Resource(addr.Resource.Mode.String(), addr.Resource.Type); rs != nil {
				block = rs.Block
			}
		}
		for _, i := range r.Instances {
			s.object(i.Current, block)
			for _, d := range i.Deposed {
				s.object(d, block)
			}
		}
	}
}

// object takes what is sensitive in an object; block may be nil.
func (s secrets) object(o *states.Object, block *schema.Block) {
	if o == nil {
		return
	}
	s.marked(o.Value)
	var tree any
	if json.Unmarshal(o.AttrsJSON, &tree) != nil {
		return
	}
	for _, path := range o.Sensitive {
		s.json(at(tree, path))
	}
	if block == nil || !block.ContainsSensitive() {
		return
	}
	if v, err := schema.ParseJSON(o.AttrsJSON, block.ImpliedType()); err == nil {
		for _, path := range block.SensitivePaths(v) {
			s.json(at(tree, path))
		}
	}
}

// at returns what a path leads to in decoded JSON: all of what it cannot follow.
func at(tree any, path cty.Path) any {
	for _, step := range path {
		switch x := tree.(type) {
		case map[string]any:
			name := ""
			switch step := step.(type) {
			case cty.GetAttrStep:
				name = step.Name
			case cty.IndexStep:
				if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
					name = step.Key.AsString()
				}
			}
			tree = x[name]
		case []any:
			step, ok := step.(cty.IndexStep)
			if !ok || step.Key.Type() != cty.Number || !step.Key.IsKnown() || step.Key.IsNull() {
				return tree // an element of a set
			}
			if i, _ := step.Key.AsBigFloat().Int64(); i >= 0 && i < int64(len(x)) {
				tree = x[i]
			} else {
				return nil
			}
		}
	}
	return tree
}

// json takes all texts in decoded JSON.
func (s secrets) json(tree any) {
	switch x := tree.(type) {
	case string:
		s.add(x)
	case []any:
		for _, e := range x {
			s.json(e)
		}
	case map[string]any:
		for _, e := range x {
			s.json(e)
		}
	}
}

// marked takes what is marked sensitive in a value.
func (s secrets) marked(v cty.Value) {
	if v == cty.NilVal || !v.ContainsMarked() {
		return
	}
	_ = cty.Walk(v, func(_ cty.Path, x cty.Value) (bool, error) {
		if x.HasMark(marks.Sensitive) {
			s.all(x)
			return false, nil
		}
		return true, nil
	})
}

// all takes all texts in a value.
func (s secrets) all(v cty.Value) {
	if v == cty.NilVal {
		return
	}
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(_ cty.Path, x cty.Value) (bool, error) {
		if x.IsKnown() && !x.IsNull() && x.Type() == cty.String {
			s.add(x.AsString())
		}
		return true, nil
	})
}

// add takes a text: whole, line by line, for rendering indents lines, and in the forms
// that it has in quotes, URLs and encodings.
func (s secrets) add(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		quoted, err := json.Marshal(line)
		if len(line) < shortestSecret || err != nil {
			continue
		}
		s[line] = true
		s[strings.Trim(string(quoted), `"`)] = true
		s[url.QueryEscape(line)] = true
		s[strings.ReplaceAll(line, `\`, `\\`)] = true
		s[strings.ReplaceAll(strings.ReplaceAll(line, `\`, `\\`), `"`, `\"`)] = true
	}
	if len(text) >= shortestSecret {
		s[base64.StdEncoding.EncodeToString([]byte(text))] = true
		s[base64.RawURLEncoding.EncodeToString([]byte(text))] = true
	}
}

// from returns text with [hidden] in the place of each secret; of two that begin at one
// place, the longer one counts.
func (s secrets) from(text string) string {
	pairs := make([]string, 0, 2*len(s))
	all := make([]string, 0, len(s))
	for secret := range s {
		if strings.Contains(text, secret) {
			all = append(all, secret)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range all {
		pairs = append(pairs, secret, hidden)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
