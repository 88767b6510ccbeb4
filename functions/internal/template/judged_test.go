package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// A Judging is a decision that a simulator is asked for: the names of the policies that matter, and all
// values as they are in a world.
type Judging struct {
	Who      string              `json:"who"`
	Own      []string            `json:"own,omitempty"`
	Session  map[string]any      `json:"session,omitempty"`
	Resource []string            `json:"resource,omitempty"`
	Action   string              `json:"action"`
	On       string              `json:"on"`
	Context  map[string][]string `json:"context"`
}

// delegates is the name of a policy of the resources that are not the template's: it leaves
// everything to their accounts.
const delegates = "delegates"

// Documents are the policies of a world by name.
func (w *World) Documents() map[string]map[string]any {
	out := map[string]map[string]any{delegates: {"Version": "2012-10-17", "Statement": []any{map[string]any{
		"Effect": "Allow", "Principal": map[string]any{"AWS": "arn:aws:iam::" + templates.AccountID + ":root"}, "Action": []any{"sts:*", "kms:*"}, "Resource": "*",
	}}}}
	for _, d := range w.Policies {
		out[d.Name] = d.Resolved
	}
	for name, p := range w.Principals {
		for i, document := range p.Policies {
			out[fmt.Sprintf("%s %d", name, i)] = document
		}
	}
	return out
}

// Judge returns what a simulator is asked for a decision. The error is one of the decision.
func (w *World) Judge(r templates.Requests, d templates.Decision) (Judging, error) {
	sub := func(text string) string { return w.resolve(map[string]any{"Fn::Sub": text}).(string) }
	// Requests are for a stream; the ARN of a group ends with a star.
	j := Judging{Who: d.Who, Action: d.Action, On: strings.Replace(sub(d.Resource), ":*:log-stream:", ":log-stream:", 1), Context: map[string][]string{}}
	for k, values := range d.Context {
		for _, v := range values {
			j.Context[k] = append(j.Context[k], sub(v))
		}
	}
	if d.Session != "" {
		if err := json.Unmarshal([]byte(r.Sessions[d.Session]), &j.Session); err != nil {
			return j, fmt.Errorf("the session %s: %w", d.Session, err)
		}
	}
	if p := w.Principals[d.Who]; p != nil {
		j.Who, j.Own = p.ARN, w.ownOf(d.Who)
	} else if !strings.HasSuffix(d.Who, ".amazonaws.com") && d.Who != templates.Anonymous {
		return j, fmt.Errorf("there is no principal %s", d.Who)
	}
	j.Resource = w.protecting(j.On, d.Action)
	return j, nil
}

// ownOf returns the names of somebody's policies.
func (w *World) ownOf(who string) []string {
	var out []string
	for _, d := range w.Policies {
		if d.Kind == templates.RolePolicies && slices.Contains(d.On, who) {
			out = append(out, d.Name)
		}
	}
	if len(out) == 0 {
		for i := range w.Principals[who].Policies {
			out = append(out, fmt.Sprintf("%s %d", who, i))
		}
	}
	return out
}

// protecting returns the names of the policies of a resource.
func (w *World) protecting(arn, action string) []string {
	if bucket, object, ok := strings.Cut(arn, "/"); ok && object != "" && strings.HasPrefix(arn, "arn:aws:s3:::") {
		arn = bucket
	}
	var out []string
	for _, d := range w.Policies {
		if d.Kind != templates.RolePolicies && slices.ContainsFunc(d.On, func(on string) bool { return w.Resources[on] != nil && w.Resources[on].ARN == arn }) {
			out = append(out, d.Name)
		}
	}
	service, _, _ := strings.Cut(action, ":")
	if len(out) == 0 && (service == "sts" || service == "kms") {
		return []string{delegates}
	}
	return out
}
