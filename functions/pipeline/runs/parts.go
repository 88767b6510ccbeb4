package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// PlanParts are all that a plan was made of, and its result. Its hash is that of the plan: see
// [PlanParts.Hash].
//
// A hash names one plan, made once: the bytes of the saved plan are a part. Two plans of the same
// parts but those can differ, since the objects themselves are no part; whether they do is not for
// hashes to tell, but for package comparing.
type PlanParts struct {
	// Inputs is the hash of the files of the merge result that the plan depends on: the project's,
	// its modules', its variable files.
	Inputs string
	// Modules are the checksums of remote modules, by the keys of their calls.
	Modules map[string]string `json:",omitempty"`
	State   StateID
	// Options are those of the plan, as they are typed: see [grammar.Options.Words].
	Options []string `json:",omitempty"`
	// Providers are versions and checksums, by address.
	Providers map[string]string `json:",omitempty"`
	// Variables is a digest of the names and values of the root variables. Values may be secret and
	// short, so it has a key that only those know who have the saved plan: digests of different
	// plans are not comparable.
	Variables string
	// Ephemeral are the names of the variables that are in no plan, sorted.
	Ephemeral []string `json:",omitempty"`
	// PlannedOn are the hashes of the plans of other projects, by target, whose outputs it was made with; "" where the
	// outputs in the state counted. Outputs is the hash of the outputs that the state will have, "" if they are
	// not kept.
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

// Saved is the hash of the saved plan's bytes. In records of earlier versions, without parts, it is
// the plan's hash.
func (r Run) Saved() string {
	if r.Plan.Parts == nil {
		return r.Plan.Hash
	}
	return r.Plan.Parts.Saved
}

// Broken returns the defect of a record whose parts are not those of its plan; "" if there is none.
func (r Run) Broken() string {
	switch {
	case r.Plan.Parts == nil:
		return ""
	case r.Plan.Parts.Hash() != r.Plan.Hash:
		return "the parts of the plan do not have its hash"
	case r.Plan.Parts.State != r.Plan.State && r.Apply.Progress.Of == 0: // else a stopped apply has written it
		return "the state of the plan is not the one in its hash"
	case r.Plan.Parts.Inputs != r.Plan.Inputs:
		return "the inputs of the plan are not those in its hash"
	case !slices.Equal(r.Plan.Parts.Options, r.Spec.Options.Words()):
		return "the options of the plan are not those in its hash"
	}
	return ""
}

// Outdated returns the targets, sorted, of the projects that were applied since the plan was made, of those that it depends
// on; now is the number of applies to their states.
func Outdated(r Run, now map[string]int) (targets []string) {
	for target, n := range r.Plan.Reads {
		if now[target] > n {
			targets = append(targets, target)
		}
	}
	slices.Sort(targets)
	return targets
}
