package executor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// partsOf returns those parts of a plan that only the engine knows. By comparing them, the pipeline finds out
// whether the plan is up to date. plain is the encoded plan before encryption.
func partsOf(o *checkout, p *plans.Plan, plain []byte) (runs.PlanParts, error) {
	modules, err := o.packages()
	if err != nil {
		return runs.PlanParts{}, err
	}
	out := runs.PlanParts{
		Modules: modules, State: runs.StateID(o.Opened), Providers: map[string]string{},
		Ephemeral: slices.Sorted(slices.Values(p.EphemeralVariables)), Engine: o.engine.Version,
	}
	for a, s := range o.Providers.Selections() {
		out.Providers[a.String()] = strings.Join(append([]string{s.Version}, slices.Sorted(slices.Values(s.Hashes))...), " ")
	}
	out.Variables, err = digest(p, plain)
	return out, err
}

// digest returns a keyed hash of a plan's variables. The key comes from plain, the unencrypted plan, which
// contains the values anyway. So nobody else can find a short secret by trying values.
func digest(p *plans.Plan, plain []byte) (string, error) {
	key := sha256.New()
	key.Write([]byte("variables\n"))
	key.Write(plain)
	h := hmac.New(sha256.New, key.Sum(nil))
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		v := marks.Plain(p.Variables[name])
		if !v.IsWhollyKnown() {
			continue // there is no value
		}
		data, err := json.Marshal(v, v.Type())
		if err != nil {
			return "", fmt.Errorf("digest of the variable %s: %w", name, err)
		}
		fmt.Fprintf(h, "%q %q %q\n", name, v.Type().GoString(), data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
