// Package environments has the environment blocks of lockstep.hcl. They have roles, secrets and variables that
// several projects share, for example those of one account.
//
// Anybody who opens a pull request can write such blocks. So an [Environment] hides its rights, and only its
// variables can be read. A [Granted] value has the rights. [Environment.Grant] makes this value from an
// environment at a base commit. No other type has a role, the name of a secret or a variable of the
// environment. A Granted value is never read from a text.
//
// This package does not know repositories, sessions and the values of secrets. Start reading at [Parse].
package environments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
)

// An Environment is an environment block of a lockstep.hcl, from any commit.
type Environment struct {
	Name string
	At   hcl.Range
	// Variables are variable values as JSON, by name.
	Variables map[string]json.RawMessage
	Refresh   Refresh

	rights     rights
	branches   []string
	deployment string
	broken     bool
}

// rights are the rights in an environment block. They count only at the base commit.
type rights struct {
	planRole, applyRole, externalID, region, github string
	env                                             map[string]string
	secrets                                         []Secret
	runner                                          Runner
}

// A Runner says where applies run. The zero value means the process that takes the applies from the queue.
type Runner struct {
	Name string // [CodeBuild], or ""
	// At is the line of the setting at the base commit: "lockstep.hcl:9".
	At string
	// Image is the image of the builds, by digest; "" for the deployment's. Plans run in builds, too, if it is set.
	Image string
}

// CodeBuild is the runner that applies in a build of AWS CodeBuild. AWS Batch would be possible, too, but it
// needs a network with a compute environment, and an image in a registry. CodeBuild uses the function's own
// archive, for up to 36 hours. Source: https://docs.aws.amazon.com/codebuild/latest/userguide/limits.html,
// https://docs.aws.amazon.com/batch/latest/userguide/compute_environments.html
const CodeBuild = "codebuild"

// A Secret is the name of a secret, not its value.
type Secret struct {
	// Name is the name of an environment variable: TF_VAR_x for the variable x.
	Name string
	// ARN is the ARN of a secret in Secrets Manager, or of a parameter in SSM.
	ARN string
	// At is the line of the secret in the block, at the base commit: "lockstep.hcl:9".
	At string
}

// A Granted has the rights that an environment at the base commit gives to a project. The zero value gives only
// the roles and the region of the deployment.
type Granted struct {
	name   string
	at     string // the line of the block at the base commit
	rights rights
}

// Deployment returns the name of the deployment that works for the environment's projects; "" is the deployment
// without a name. The name counts only at the base commit.
func (e Environment) Deployment() string { return e.deployment }

// Grant returns the rights of an environment from the base commit, for pull requests into a branch. The error
// is a sentence for people that tells them what to do.
func (e Environment) Grant(branch string) (Granted, error) {
	if e.broken {
		return Granted{}, fmt.Errorf("the environment %q has errors on the base branch (%s), so Lockstep does not use its roles: correct the environment on the base branch", e.Name, line(e.At))
	}
	named := len(e.branches) == 0 || slices.ContainsFunc(e.branches, func(pattern string) bool {
		return doublestar.MatchUnvalidated(pattern, branch)
	})
	if !named {
		return Granted{}, fmt.Errorf("the environment %q is only for pull requests into %s, and this pull request is into %s: change its base branch, or add the branch to branches at %s on the base branch", e.Name, strings.Join(e.branches, ", "), branch, line(e.At))
	}
	return Granted{e.Name, line(e.At), e.rights}, nil
}

func line(at hcl.Range) string { return fmt.Sprintf("%s:%d", at.Filename, at.Start.Line) }

// GitHub returns the name of the GitHub environment whose protection rules count for applies; "" for none. The
// name is a condition, not a right.
func (e Environment) GitHub() string { return e.rights.github }

// Image returns the image of the environment's builds; "" for none. It counts only at the base commit.
func (e Environment) Image() string { return e.rights.runner.Image }

// Name returns the environment's name; "" for none.
func (g Granted) Name() string { return g.name }

// At returns the line of the environment's block at the base commit: "lockstep.hcl:3".
func (g Granted) At() string { return g.at }

// Role returns the ARN and the external ID of the role for the project's providers, for applies or for plans.
// "" means the deployment's role.
func (g Granted) Role(applies bool) (arn, externalID string) {
	if applies {
		return g.rights.applyRole, g.rights.externalID
	}
	return g.rights.planRole, g.rights.externalID
}

// GitHub returns the name of the GitHub environment in which applies are recorded; "" for none.
func (g Granted) GitHub() string { return g.rights.github }

// Runner returns where the project is applied.
func (g Granted) Runner() Runner { return g.rights.runner }

// Region returns the region of providers; "" means the deployment's.
func (g Granted) Region() string { return g.rights.region }

// Secrets returns the project's secrets, sorted by name.
func (g Granted) Secrets() []Secret { return slices.Clone(g.rights.secrets) }

// encryption is the variable with a part of the encryption block. It is used for nothing else.
const encryption = "TF_ENCRYPTION"

// Encryption returns the variable TF_ENCRYPTION, by name, if the environment's env has it. The value of this
// variable is merged into the encryption block. The variable can also be one of the Secrets.
func (g Granted) Encryption() map[string]string {
	if value, ok := g.rights.env[encryption]; ok {
		return map[string]string{encryption: value}
	}
	return nil
}

// Env returns the variables of the providers' environment, NAME=value, sorted.
func (g Granted) Env() []string {
	var out []string
	for name, value := range g.rights.env {
		if name != encryption {
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out)
	return out
}
