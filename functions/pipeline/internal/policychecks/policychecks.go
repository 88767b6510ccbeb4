// Package policychecks judges a plan by the Rego policies of the base branch, and by its gates, which are
// functions and webhooks of a team.
//
// Policies run in Lockstep's process, and see the whole JSON of the plan. Gates run elsewhere, and see the JSON
// without sensitive values. The verdicts become facts about the plan, without secrets.
//
// The package does not decide by verdicts: package requirementrules does. It makes no requests itself: a
// function asks the gates. Start reading at [Judge.Content].
package policychecks

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/internal/policies"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Judge judges plans.
type Judge struct {
	// Hide removes secrets, by value, from a text.
	Hide func(string) string
	// Ask asks a gate about a plan in JSON. If it is nil, no gate can be asked.
	Ask func(ctx context.Context, g requirements.Gate, plan []byte) (runs.Judgement, error)
}

// Content adds to the facts about a plan the verdicts of the job's policies and gates. plan is the JSON of the
// plan.
func (x Judge) Content(ctx context.Context, j jobs.Job, plan []byte, to *runs.Content) error {
	for _, p := range j.Policies {
		v, err := x.policy(ctx, p, plan)
		if err != nil {
			return fmt.Errorf("judge the plan by the policy %s: %w", p.Name, err)
		}
		to.Judgements = append(to.Judgements, v)
	}
	if len(j.Gates) == 0 {
		return nil
	}
	open, err := Public(plan, x.Hide)
	if err != nil {
		return fmt.Errorf("remove sensitive values from the plan: %w", err)
	}
	for _, g := range j.Gates {
		v, err := x.gate(ctx, g, open)
		if err != nil {
			return err
		}
		to.Verdicts = append(to.Verdicts, v)
	}
	return nil
}

func (x Judge) gate(ctx context.Context, g requirements.Gate, plan []byte) (runs.Judgement, error) {
	if x.Ask == nil {
		return runs.Judgement{Name: g.Name, ID: g.ID(), Mistakes: []string{"gates cannot be asked here"}}, nil
	}
	v, err := x.Ask(ctx, g, plan)
	for _, texts := range [][]string{v.Denied, v.Warned, v.Mistakes} {
		for i, text := range texts {
			texts[i] = x.Hide(text)
		}
	}
	return v, err
}

// policy returns the verdict of one policy about a plan's JSON. A policy with errors gives no verdict, and
// blocks applies until somebody corrects it.
func (x Judge) policy(ctx context.Context, p jobs.Policy, doc []byte) (runs.Judgement, error) {
	out := runs.Judgement{Name: p.Name, ID: p.ID()}
	if p.Problem != "" {
		out.Mistakes = []string{p.Problem}
		return out, nil
	}
	v, err := judge(ctx, p, doc)
	if mistakes := new(*policies.Error); errors.As(err, mistakes) {
		for _, m := range (*mistakes).Problems {
			out.Mistakes = append(out.Mistakes, x.Hide(m.String()))
		}
		out.MoreDenied = (*mistakes).More
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Denied, out.MoreDenied = x.messages(v.Failures), v.MoreFailures
	out.Warned, out.MoreWarned = x.messages(v.Warnings), v.MoreWarnings
	return out, nil
}

// Mistakes returns the errors of a policy that do not depend on a plan, and how many are left out.
func Mistakes(p jobs.Policy) (all []string, more int) {
	if p.Problem != "" {
		return []string{p.Problem}, 0
	}
	_, err := compiled(p)
	if mistakes := new(*policies.Error); errors.As(err, mistakes) {
		for _, m := range (*mistakes).Problems {
			all = append(all, m.String())
		}
		return all, (*mistakes).More
	}
	return nil, 0
}

func compiled(p jobs.Policy) (*policies.Set, error) {
	opts := policies.Options{Namespaces: p.Namespaces, RegoV0: p.RegoV0}
	if len(p.Namespaces) == 1 && p.Namespaces[0] == "*" {
		opts.AllNamespaces = true
	}
	return policies.Compile(p.Files, opts)
}

func judge(ctx context.Context, p jobs.Policy, doc []byte) (policies.Verdict, error) {
	set, err := compiled(p)
	if err != nil {
		return policies.Verdict{}, err
	}
	return set.Judge(ctx, doc)
}

// messages returns the messages of findings without secrets, because a message can contain any value of the
// plan.
func (x Judge) messages(found []policies.Finding) (out []string) {
	for _, f := range found {
		out = append(out, x.Hide(f.Message))
	}
	return out
}
