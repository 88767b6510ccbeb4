package executor

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/risks"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// factsOf returns the facts that follow from the plan alone: counts of changes, destroyed types and risks. The caller
// adds what policies and gates say. The second result has the risks in full.
func (o *checkout) factsOf(p *plans.Plan) (*runs.Content, []comment.Risk) {
	var types []string
	for _, c := range p.Changes {
		r := c.Addr.Instance.Resource.Resource
		if r.Mode == addrs.Managed && c.Destroys() {
			types = append(types, r.Type)
		}
	}
	slices.Sort(types)
	out, found := runs.ContentOf(p.Counts(), slices.Compact(types)), o.risks(p)
	out.Risks, out.Assessment = runs.RisksOf(found), requirements.AssessmentOf(o.job.Stateful)
	return out, found
}

// risks returns the risks of a plan, without secrets.
func (o *checkout) risks(p *plans.Plan) (out []comment.Risk) {
	stateful := func(kind string) bool { return requirements.IsStateful(o.job.Stateful, kind) }
	hide := o.secrets(p, nil)
	for _, r := range risks.Find(risks.Input{Plan: p, Config: o.Config, Stateful: stateful}) {
		out = append(out, comment.Risk{Name: string(r.Name), Object: hide.From(r.Object.String()), Text: hide.From(r.Text), May: r.May})
	}
	return out
}

// withRisks adds risks to the JSON of a plan, as lockstep.risks.
func withRisks(plan []byte, found []comment.Risk) ([]byte, error) {
	type risk struct {
		Name    string `json:"name"`
		Address string `json:"address"`
		Text    string `json:"text"`
		May     bool   `json:"may"`
	}
	list := make([]risk, len(found))
	for i, r := range found {
		list[i] = risk{r.Name, r.Object, r.Text, r.May}
	}
	data, err := json.Marshal(map[string]any{"risks": list})
	if err != nil {
		return nil, err
	}
	if len(plan) < 2 || plan[0] != '{' {
		return nil, fmt.Errorf("the plan is no JSON object")
	}
	return slices.Concat([]byte(`{"lockstep":`), data, []byte(","), plan[1:]), nil
}
