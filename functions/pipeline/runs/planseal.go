package runs

import (
	"crypto/hmac"
	"fmt"
)

// A PlanSeal proves that a process of Lockstep has made the plan of a run. The process seals the plan when it records the plan, and may
// die before the check run shows the hash. The next process then has only the record, which somebody else may have written.
type PlanSeal struct {
	// Attempt is the [Asked] Attempt and Begun the [Run.HighestNumber] at that time.
	Attempt, Begun int
	// Seal is the code that only the App's private key can make.
	Seal string
}

// SealPlan returns the run with a seal of its present plan. seal makes the seal of a text.
func (r Run) SealPlan(seal func([]byte) string) Run {
	r.Plan.Seal = PlanSeal{Attempt: r.Asked.Attempt, Begun: r.HighestNumber()}
	r.Plan.Seal.Seal = seal(r.sealedPlan())
	return r
}

func (r Run) sealedPlan() []byte {
	s := r.Plan.Seal
	return fmt.Appendf(nil, "made\n%d\n%d\n%s\n%s\n%d.%d.%d\n%s\n", r.Pull.Repo.ID, r.Pull.Number, r.Spec.Head, r.Target(), s.Attempt, s.Begun, r.Artifacts.Begun, r.Plan.Hash)
}

// PlanIsSealed reports whether the plan of the run is exactly as a process of Lockstep has recorded it, at any time. seal makes the seal
// of a text.
func (r Run) PlanIsSealed(seal func([]byte) string) bool {
	return r.Plan.Seal.Seal != "" && r.Plan.Hash != "" && hmac.Equal([]byte(r.Plan.Seal.Seal), []byte(seal(r.sealedPlan())))
}

// PlanIsSealedFor is like [Run.PlanIsSealed], and also reports whether the plan can be that of a message with the number attempt. Somebody
// who puts an old record back puts back the seal of an older attempt.
func (r Run) PlanIsSealedFor(attempt int, seal func([]byte) string) bool {
	return r.Plan.Seal.Attempt == r.Asked.Attempt && r.Plan.Seal.Attempt >= attempt && r.PlanIsSealed(seal)
}
