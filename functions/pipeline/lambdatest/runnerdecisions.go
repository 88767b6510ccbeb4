//go:build linux

package lambdatest

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// protects returns the policies of a resource of the template; nil if it has none.
func (s *Stack) protects(arn string) []templates.Statement {
	if strings.HasPrefix(arn, "arn:aws:s3:::") {
		arn = bucketOf(arn)
	}
	return s.policies().resources[arn]
}

// A deployment has all policies of a stack.
type deployment struct {
	roles     map[string][]templates.Statement // by the role's logical name
	resources map[string][]templates.Statement // by ARN
}

func (s *Stack) policies() *deployment {
	s.once.Do(func() {
		s.deployed = &deployment{map[string][]templates.Statement{}, map[string][]templates.Statement{}}
		for _, p := range templates.PoliciesOf(s.Template) {
			statements := templates.StatementsIn(s.resolver.Resolve(p.Document).(map[string]any))
			for _, on := range p.On {
				if p.Kind == templates.RolePolicies {
					s.deployed.roles[on] = append(s.deployed.roles[on], statements...)
				} else if arn := s.resolver.Atts[on+".Arn"]; arn != "" {
					s.deployed.resources[arn] = append(s.deployed.resources[arn], statements...)
				}
			}
		}
	})
	return s.deployed
}

// rightsOf returns the rights of a role of the template, by its logical name.
func (s *Stack) rightsOf(role string) templates.Rights {
	return templates.Rights{Who: s.resolver.Atts[role+".Arn"], Own: s.policies().roles[role]}
}

// ask decides whether the rights x allow the call c, and records the decision.
func (s *Stack) ask(x templates.Rights, c templates.Call) bool {
	ok := x.May(s.protects(c.Resource), c)
	s.mu.Lock()
	s.decisions = append(s.decisions, x.Decision(c, ok))
	s.mu.Unlock()
	return ok
}

// Decisions returns all decisions so far.
func (s *Stack) Decisions() []templates.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.decisions)
}

// Written returns the text with each value of the deployment replaced by the template's name for it, in the
// form of Fn::Sub. An ARN becomes "${Table.Arn}", for example.
func (s *Stack) Written(text string) string {
	for _, name := range s.named() {
		text = strings.ReplaceAll(text, name[0], "${"+name[1]+"}")
	}
	return text
}

// named returns pairs of a value and the name of its resource or parameter. The longest value is first.
func (s *Stack) named() [][2]string {
	var out [][2]string
	for name, value := range s.resolver.Atts {
		if strings.HasSuffix(name, ".Arn") {
			out = append(out, [2]string{strings.TrimSuffix(value, ":*"), name})
		}
	}
	for _, name := range []string{"AWS::StackId", "ExternalId", "AppKeySecretArn", "WebhookSecretArn", "PlanTargetRoleArn", "ApplyTargetRoleArn", "StateKeyArn", "EncryptionKeyArn"} {
		if value := s.resolver.Refs[name]; value != "" {
			out = append(out, [2]string{value, name})
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int {
		if d := len(b[0]) - len(a[0]); d != 0 {
			return d
		}
		return strings.Compare(a[0], b[0])
	})
	return out
}
