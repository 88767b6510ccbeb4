package requirementrules

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// Needs names the facts that requirements depend on. Other facts need not be read.
type Needs struct {
	Reviews, Owners, Merging, Behind, Open, Checks, Labels, Plan bool
	// Actor, Approvers and Lifters are the teams whose membership matters. Actor is for the user who makes the
	// request. Approvers is for the people who approved, and Lifters for those who wrote an override.
	Actor, Approvers, Lifters []requirements.Party
	// Environments are the GitHub environments whose protection rules matter. Reviews are needed for them, too.
	Environments []string
	// Lifts is set if a requirement lets somebody override it.
	Lifts bool
}

// Needed returns the facts that a decision needs.
func Needed(all []requirements.Requirement) Needs {
	var n Needs
	for _, r := range all {
		n.add(r.Rules)
		for _, a := range r.Alternatives {
			n.add(a.Rules)
		}
		teams(&n.Lifters, r.Override)
		n.Lifts = n.Lifts || r.Override != nil
	}
	return n
}

func (n *Needs) add(r requirements.Rules) {
	for _, c := range table {
		if c.needs != nil && c.set(r) {
			c.needs(n, r)
		}
	}
}

// teams appends to one list the parties of another list that are teams, each once.
func teams(to *[]requirements.Party, from []requirements.Party) {
	for _, p := range from {
		if p.Team != "" && !slices.Contains(*to, p) {
			*to = append(*to, p)
		}
	}
}

func needsActor(n *Needs, r requirements.Rules) { teams(&n.Actor, r.By) }
func needsReviews(n *Needs, r requirements.Rules) {
	n.Reviews = true
	teams(&n.Approvers, r.ApprovedBy)
}
func needsOwners(n *Needs, _ requirements.Rules)  { n.Reviews, n.Owners = true, true }
func needsMerging(n *Needs, _ requirements.Rules) { n.Merging, n.Checks = true, true }
func needsBehind(n *Needs, _ requirements.Rules)  { n.Behind = true }
func needsOpen(n *Needs, _ requirements.Rules)    { n.Open = true }
func needsChecks(n *Needs, _ requirements.Rules)  { n.Checks = true }
func needsLabels(n *Needs, _ requirements.Rules)  { n.Labels = true }
func needsEnvironment(n *Needs, r requirements.Rules) {
	n.Environments = append(n.Environments, r.Environment)
}
func needsPlan(n *Needs, _ requirements.Rules) { n.Plan = true }
