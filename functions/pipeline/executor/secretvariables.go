package executor

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// The secrets of a job's environment are read at the beginning of a run, before files of the checkout are
// evaluated. A plan does not contain the secret values of variables: the apply reads the values once more. So
// the plan can still be applied if a secret has changed in the meantime.

// variablePrefix is the prefix of environment variables that set variables of the configuration.
const variablePrefix = "TF_VAR_"

// secretVariables are the secrets of a job, by names of environment variables.
type secretVariables map[string]string

// vault reads the secrets of a job.
func (e *Engine) vault(ctx context.Context, j jobs.Job) (secretVariables, diags.Diagnostics) {
	if e.Vault == nil || j.Access == jobs.Unlocks || j.Snapshot != nil {
		return nil, nil
	}
	values, err := e.Vault(ctx, j)
	if err != nil {
		return nil, diags.FromError("A secret of the environment cannot be read", err)
	}
	return values, nil
}

// source returns the secrets that are values of variables.
func (v secretVariables) source() inputs.Source {
	s := inputs.Source{Origin: inputs.FromEnvironment, Literals: map[string]string{}, By: "by secrets in lockstep.hcl"}
	for _, name := range v.variables() {
		s.Literals[name] = v[variablePrefix+name]
	}
	return s
}

// variables returns the names of the configuration's variables whose values are secrets of the job, sorted.
func (v secretVariables) variables() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if variable, ok := strings.CutPrefix(name, variablePrefix); ok {
			out = append(out, variable)
		}
	}
	return out
}

// tokens returns those secrets that are tokens of hosts, as NAME=value.
func (v secretVariables) tokens() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if strings.HasPrefix(name, cliconfig.TokenVariable) {
			out = append(out, name+"="+v[name])
		}
	}
	return out
}

// token returns the token for a host; it implements hosts.Tokens.
func (v secretVariables) token(host string) (hosts.Token, bool) {
	t, ok := cliconfig.Tokens(v.tokens())[host]
	return t, ok
}

// env returns those secrets that become environment variables of plugins, as NAME=value. Values of the
// configuration's variables and keys of states are left out.
func (v secretVariables) env() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !strings.HasPrefix(name, variablePrefix) && name != encrypting.Variable {
			out = append(out, name+"="+v[name])
		}
	}
	return out
}

// uncovered returns warnings about variables that get a secret, but are not declared as sensitive. If other
// values are computed from such a variable, Lockstep cannot recognize them.
func (v secretVariables) uncovered(root *config.Content) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, name := range v.variables() {
		if x := root.Variables[name]; x != nil && !x.Sensitive && !x.Ephemeral {
			ds = append(ds, diags.Warningf(&x.Range, "Secret in a variable that is not sensitive",
				"The variable %q gets its value from secrets in lockstep.hcl. Reports hide that value, but not what is computed from it: set sensitive = true.", name)...)
		}
	}
	return ds
}

// completed returns the values of the variables for applying a saved plan: those in the plan, and the present
// values of ephemeral variables, which no plan contains.
func (m merged) completed(p *plans.Plan) map[string]cty.Value {
	out := maps.Clone(p.Variables)
	for _, name := range p.EphemeralVariables {
		if v, ok := m.variables[name]; ok {
			if out == nil {
				out = map[string]cty.Value{}
			}
			out[name] = v
		}
	}
	return out
}
