package places

import (
	"fmt"
	"regexp"
)

// RoleArgument is the argument of the backend "s3" with the role that reaches the state.
// Source: https://developer.hashicorp.com/terraform/language/backend/s3#assume-role-configuration
const RoleArgument = "assume_role"

// A Role is the one that the backend block of a place names, mostly of another account. Of the block's
// other arguments about it, such as a name of the session or a policy, none counts: Lockstep has its own.
type Role struct{ ARN, ExternalID string }

// rolePattern matches the ARN of a role.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-arns
var rolePattern = regexp.MustCompile(`^arn:[a-z-]+:iam::[0-9]{12}:role/[\w+=,.@/-]+$`)

// Role returns the role of the place; the zero value if the block names none.
func (p Place) Role() Role {
	v, _ := p.Arguments[RoleArgument].(map[string]any)
	return Role{text(v["role_arn"]), text(v["external_id"])}
}

// checkRole returns an error if the block has an assume_role without a role.
func (p Place) checkRole() error {
	if v := p.Arguments[RoleArgument]; v != nil && !rolePattern.MatchString(p.Role().ARN) {
		return fmt.Errorf("its %s has the role_arn %q: give the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME", RoleArgument, p.Role().ARN)
	}
	return nil
}
