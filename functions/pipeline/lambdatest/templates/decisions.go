package templates

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// AccountID and Region are the account and the region of all resources in a test.
const (
	AccountID = "111122223333"
	Region    = "us-east-1"
)

// SecretARN returns the ARN of a secret. id is the ARN or the name of the secret in a request. Secrets Manager
// adds six characters to the name.
// Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/getting-started.html#term_secret
func SecretARN(id string) string {
	if strings.HasPrefix(id, "arn:") {
		return id
	}
	return "arn:aws:secretsmanager:" + Region + ":" + AccountID + ":secret:" + id + "-AbCdEf"
}

// A Decision records whether IAM allows an action. One request may need several decisions, for example if S3
// calls KMS on behalf of a caller that reads an object.
type Decision struct {
	// Who is the caller: the ARN of a role, the name of a service, or "anonymous".
	Who string
	// Session is the session policy of the caller's role; "" if there is none.
	Session string
	// Action is IAM's name of the action. Resource is the ARN of what the action is done to.
	Action, Resource string
	// Context has the values of the condition keys, by key.
	Context map[string][]string
	Allowed bool
}

// Anonymous is the name of a caller without credentials.
const Anonymous = "anonymous"

// Decision returns the record of the decision on a call. allowed is the result.
func (x Rights) Decision(c Call, allowed bool) Decision {
	return Decision{Who: x.Who, Session: x.text, Action: c.Action, Resource: c.Resource, Context: c.Context, Allowed: allowed}
}

// Rights are the rights of a caller. Who is as in [Decision.Who].
type Rights struct {
	Who string
	Own []Statement

	session  []Statement
	narrowed bool
	text     string // of the session's policy
}

// Narrow limits the rights by the policy of a session.
func (x *Rights) Narrow(policy string) error {
	var document map[string]any
	if err := json.Unmarshal([]byte(policy), &document); err != nil {
		return err
	}
	x.session, x.narrowed, x.text = StatementsIn(document), true, policy
	return nil
}

// rootOf is the whole account as a principal. A statement for this principal leaves the decision to the
// policies of the account's own roles.
const rootOf = "arn:aws:iam::" + AccountID + ":root"

// May reports whether a call is allowed. It evaluates the caller's policies, and the policies of a resource in
// the account. A trust policy or a key policy must itself allow the call. A statement for the whole account
// leaves the decision to the caller's policies. Source:
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

// about divides the statements of a resource. named are those that name the caller. delegated are those that
// leave the decision to the account's policies.
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
