package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// PlanParts has everything that a plan was made from, and its result. [PlanParts.Hash] is the hash of the plan.
//
// The bytes of the saved plan are one of the parts, so each plan has its own hash, even if the same plan is
// made twice. The real objects are no part, so two plans with otherwise equal parts can differ. To find out
// whether two plans do the same, use package comparing, not the hashes.
type PlanParts struct {
	// Inputs is the hash of the files of the trial merge that the plan depends on: those of the project, of its
	// modules, and of its variable files.
	Inputs string
	// Modules are the checksums of remote modules, by the keys of their calls.
	Modules map[string]string `json:",omitempty"`
	State   StateID
	// Options are the options of the plan, as people type them: see [grammar.Options.Words].
	Options []string `json:",omitempty"`
	// Providers are the versions and checksums of providers, by address.
	Providers map[string]string `json:",omitempty"`
	// Variables is a digest of the names and values of the root variables. The digest has a key, because values
	// may be secret and short. The key is made from the saved plan, so digests of different plans cannot be
	// compared.
	Variables string
	// Ephemeral are the names of the variables whose values are in no plan, sorted.
	Ephemeral []string `json:",omitempty"`
	// PlannedOn are the hashes of the plans of other projects whose outputs the plan used, by target; "" means
	// the outputs in the state. Outputs is the hash of the outputs that the state will have; "" if they are not
	// stored.
	PlannedOn map[string]string `json:",omitempty"`
	Outputs   string            `json:",omitempty"`
	// Engine is the version of Lockstep.
	Engine string
	// Saved is the hash of the saved plan's bytes.
	Saved string
}

// Hash returns the plan's hash: SHA-256 over all parts, in hexadecimal.
func (p PlanParts) Hash() string {
	h := sha256.New()
	part := func(name string, values ...any) {
		fmt.Fprintf(h, "%s", name)
		for _, v := range values {
			fmt.Fprintf(h, " %q", fmt.Sprint(v))
		}
		io.WriteString(h, "\n")
	}
	list := func(name string, m map[string]string) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			part(name, k, m[k])
		}
	}
	part("inputs", p.Inputs)
	list("module", p.Modules)
	part("state", p.State.Lineage, p.State.Serial, p.State.Version)
	for _, o := range p.Options {
		part("option", o)
	}
	list("provider", p.Providers)
	part("variables", p.Variables)
	for _, name := range p.Ephemeral {
		part("ephemeral", name)
	}
	list("planned on", p.PlannedOn)
	if p.Outputs != "" {
		part("outputs", p.Outputs)
	}
	part("engine", p.Engine)
	part("saved", p.Saved)
	return hex.EncodeToString(h.Sum(nil))
}

// Saved returns the hash of the saved plan's bytes. Records of earlier versions have no parts; for them it
// returns the plan's hash.
func (r Run) Saved() string {
	if r.Plan.Parts == nil {
		return r.Plan.Hash
	}
	return r.Plan.Parts.Saved
}

// Defect returns the reason why a record is unusable. A record is unusable if its parts do not belong to its
// plan. Defect returns "" for a usable record.
func (r Run) Defect() string {
	switch {
	case r.Plan.Parts == nil:
		return ""
	case r.Plan.Parts.Hash() != r.Plan.Hash:
		return "the parts of the plan do not have its hash"
	case r.Plan.Parts.State != r.Plan.State && r.Apply.Progress.Of == 0: // a stopped apply has changed the state
		return "the state of the plan is not the one in its hash"
	case r.Plan.Parts.Inputs != r.Plan.Inputs:
		return "the inputs of the plan are not those in its hash"
	case !slices.Equal(r.Plan.Parts.Options, r.Spec.Options.Words()):
		return "the options of the plan are not those in its hash"
	}
	return ""
}

// ReadsOutdated returns the projects that the plan depends on and that were applied after the plan was made. It
// returns targets, sorted. now is the present number of applies to each state, by target.
func ReadsOutdated(r Run, now map[string]int) (targets []string) {
	for target, n := range r.Plan.Reads {
		if now[target] > n {
			targets = append(targets, target)
		}
	}
	slices.Sort(targets)
	return targets
}
