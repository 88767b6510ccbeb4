package places

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// RoleArgument is the argument of the backend "s3" with the role that has access to the state. Source:
// https://developer.hashicorp.com/terraform/language/backend/s3#assume-role-configuration
const RoleArgument = "assume_role"

// A Role is the role in the backend block of a place. The role is usually in another account. Lockstep ignores
// the block's other arguments about the role, such as a session name or a policy, and uses its own values.
type Role struct{ ARN, ExternalID string }

// rolePattern matches the ARN of a role.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-arns
var rolePattern = lazyregexp.New(`^arn:[a-z-]+:iam::[0-9]{12}:role/[\w+=,.@/-]+$`)

// Role returns the role of the place; the zero value if the block has none.
func (p Place) Role() Role {
	v, _ := p.Arguments[RoleArgument].(map[string]any)
	return Role{text(v["role_arn"]), text(v["external_id"])}
}

// checkRole returns an error if the block's assume_role has no valid role.
func (p Place) checkRole() error {
	if v := p.Arguments[RoleArgument]; v != nil && !rolePattern.MatchString(p.Role().ARN) {
		return fmt.Errorf("its %s has the role_arn %q: give the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME", RoleArgument, p.Role().ARN)
	}
	return nil
}
