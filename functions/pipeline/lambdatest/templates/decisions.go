package templates

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// AccountID and Region are the account and the region of all evaluation.
const (
	AccountID = "111122223333"
	Region    = "us-east-1"
)

// SecretARN is the ARN of the secret that a request names, by its ARN or its name: Secrets Manager puts six characters behind
// a name.
// Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/getting-started.html#term_secret
func SecretARN(id string) string {
	if strings.HasPrefix(id, "arn:") {
		return id
	}
	return "arn:aws:secretsmanager:" + Region + ":" + AccountID + ":secret:" + id + "-AbCdEf"
}

// A Decision is a decision of IAM: somebody may do something, or not. One request can take several, for example
// because S3 asks KMS in the name of whoever reads an object.
type Decision struct {
	// Who is the ARN of a role, the name of a service, or "anonymous".
	Who string
	// Session is the policy of the role's session; "" for none.
	Session string
	// Action is IAM's name of it, Resource the ARN that it is for.
	Action, Resource string
	// Context has the values of the condition keys.
	Context map[string][]string
	Allowed bool
}

// Anonymous stands for somebody without credentials.
const Anonymous = "anonymous"

// Decision is the decision on a call.
func (x Rights) Decision(c Call, allowed bool) Decision {
	return Decision{Who: x.Who, Session: x.text, Action: c.Action, Resource: c.Resource, Context: c.Context, Allowed: allowed}
}

// Rights are the rights of somebody, named as in [Decision.Who].
type Rights struct {
	Who string
	Own []Statement

	session  []Statement
	narrowed bool
	text     string // of the session's policy
}

// Narrow sets the policy of a session.
func (x *Rights) Narrow(policy string) error {
	var document map[string]any
	if err := json.Unmarshal([]byte(policy), &document); err != nil {
		return err
	}
	x.session, x.narrowed, x.text = StatementsIn(document), true, policy
	return nil
}

// rootOf is the account as a principal, whose own policies then decide.
const rootOf = "arn:aws:iam::" + AccountID + ":root"

// May evaluates the policies of somebody and those of a resource of the account. A trust policy and the policy
// of a key must allow the call. A policy that names the account leaves the decision to the other policies.
// Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-basics-single-account.html,
// https://docs.aws.amazon.com/kms/latest/developerguide/key-policies.html
func (x Rights) May(resource []Statement, c Call) bool {
	if strings.HasPrefix(x.Who, "arn:") {
		c.Context = maps.Clone(c.Context)
		if c.Context == nil {
			c.Context = map[string][]string{}
		}
		c.Context["aws:PrincipalArn"] = []string{x.Who}
	}
	named, delegated := x.about(resource)
	if denied(x.Own, c) || denied(x.session, c) || denied(named, c) || denied(delegated, c) {
		return false
	}
	session := !x.narrowed || allowed(x.session, c)
	own := session && allowed(x.Own, c)
	switch service, _, _ := strings.Cut(c.Action, ":"); {
	case (service == "sts" || service == "kms") && resource != nil:
		return session && allowed(named, c) || own && allowed(delegated, c)
	case strings.HasPrefix(x.Who, "arn:") && !strings.Contains(x.Who, ":"+AccountID+":"):
		return own && session && allowed(named, c) // both accounts must allow it
	}
	return own || session && allowed(named, c)
}

// about returns the statements of a resource that name somebody, and those that leave it to the account's policies.
func (x Rights) about(resource []Statement) (named, delegated []Statement) {
	for _, s := range resource {
		if len(s.resources) == 0 {
			s.resources = []string{"*"} // a trust policy
		}
		if slices.Contains(s.principals, x.Who) || slices.Contains(s.principals, "*") {
			named = append(named, s)
		} else if slices.Contains(s.principals, rootOf) && strings.HasPrefix(x.Who, "arn:") {
			delegated = append(delegated, s)
		}
	}
	return named, delegated
}

func denied(statements []Statement, c Call) bool {
	return slices.ContainsFunc(statements, func(s Statement) bool { return s.deny && s.covers(c) })
}
