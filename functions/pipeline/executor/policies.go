package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/functions/internal/policies"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// contentOf returns the part of a plan's content that requirements can be about, with the verdicts of the job's
// policies.
func (o *checkout) contentOf(ctx context.Context, p *plans.Plan) (*runs.Content, error) {
	out := countsOf(p)
	if len(o.job.Policies) == 0 {
		return out, nil
	}
	doc, err := formats.Plan(p, o.Config, o.Schemas)
	if err != nil {
		return nil, fmt.Errorf("describe the plan for the policies: %w", err)
	}
	hide := o.secrets(p, nil)
	for _, policy := range o.job.Policies {
		v, err := judged(ctx, policy, doc, hide)
		if err != nil {
			return nil, fmt.Errorf("judge the plan by the policy %s: %w", policy.Name, err)
		}
		out.Judgements = append(out.Judgements, v)
	}
	return out, nil
}

// judged is the verdict of one policy on the JSON of a plan. With a mistake in the policies there is none, and
// nothing is applied until somebody mends it.
func judged(ctx context.Context, p jobs.Policy, doc []byte, hide *secrets) (runs.Judgement, error) {
	out := runs.Judgement{Policy: p.Name, ID: p.ID()}
	if p.Problem != "" {
		out.Mistakes = []string{p.Problem}
		return out, nil
	}
	opts := policies.Options{Namespaces: p.Namespaces, RegoV0: p.RegoV0}
	if len(p.Namespaces) == 1 && p.Namespaces[0] == "*" {
		opts.AllNamespaces = true
	}
	v, err := judge(ctx, p.Files, opts, doc)
	if mistakes := new(*policies.Error); errors.As(err, mistakes) {
		for _, m := range (*mistakes).Problems {
			out.Mistakes = append(out.Mistakes, hide.From(m.String()))
		}
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Denied, out.MoreDenied = messages(v.Failures, hide), v.MoreFailures
	out.Warned, out.MoreWarned = messages(v.Warnings, hide), v.MoreWarnings
	return out, nil
}

func judge(ctx context.Context, files map[string][]byte, opts policies.Options, doc []byte) (policies.Verdict, error) {
	set, err := policies.Compile(files, opts)
	if err != nil {
		return policies.Verdict{}, err
	}
	return set.Judge(ctx, doc)
}

// messages are those of findings, without secrets: a message can hold any value of the plan.
func messages(found []policies.Finding, hide *secrets) (out []string) {
	for _, f := range found {
		out = append(out, hide.From(f.Message))
	}
	return out
}
