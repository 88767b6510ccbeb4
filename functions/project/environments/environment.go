// Package environments knows the environment blocks of lockstep.hcl: the roles, secrets and
// variables that projects have in common, say those of one account.
//
// Everybody who opens a pull request writes such blocks. So an [Environment] keeps its rights to
// itself: all that can be read of it are its variables. The rights are those of a [Granted] value,
// which [Environment.Grant] makes of an environment at a base commit. No other type has a role, the
// name of a secret or a variable of the environment; nor is a Granted value ever read from a text.
//
// The package refuses to know repositories, sessions and the values of secrets. Start at [Parse].
package environments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
)

// An Environment is a block of a lockstep.hcl, whoever wrote it.
type Environment struct {
	Name string
	At   hcl.Range
	// Variables are values of variables as JSON, by name.
	Variables map[string]json.RawMessage

	rights     rights
	branches   []string
	deployment string
	broken     bool
}

// rights count at the base commit only.
type rights struct {
	planRole, applyRole, externalID, region, github string
	env                                             map[string]string
	secrets                                         []Secret
	runner                                          Runner
}

// A Runner is where applies are done. The zero value is the process that takes them from the queue.
type Runner struct {
	Name string // [CodeBuild], or ""
	// At is the line of the setting at the base commit, "lockstep.hcl:9".
	At string
}

// CodeBuild is the runner that does an apply in a build of AWS CodeBuild. AWS Batch would do, too, but needs a network with
// a compute environment, and an image in a registry; CodeBuild takes the function's own archive, for 36 hours.
// Source: https://docs.aws.amazon.com/codebuild/latest/userguide/limits.html,
// https://docs.aws.amazon.com/batch/latest/userguide/compute_environments.html
const CodeBuild = "codebuild"

// A Secret is the name of one, not its value.
type Secret struct {
	// Name is that of an environment variable: TF_VAR_x for the variable x.
	Name string
	// ARN is that of a secret in Secrets Manager, or of a parameter in SSM.
	ARN string
	// At is its line at the base commit, "lockstep.hcl:9".
	At string
}

// A Granted is what an environment gives to a project, by the base commit. The zero value gives the
// roles and the region of the deployment, and nothing else.
type Granted struct {
	name   string
	at     string // the line of the block at the base commit
	rights rights
}

// Deployment is the name of the deployment that serves the environment's projects; "" is the one without
// a name. It counts at the base commit only.
func (e Environment) Deployment() string { return e.deployment }

// Grant returns the rights of an environment that comes from the base commit, for pull requests
// into a branch. The error is a sentence for people, with the remedy.
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

// GitHub is the name of the environment of GitHub whose protection rules hold for applies; "" for none. It is no right, but a condition.
func (e Environment) GitHub() string { return e.rights.github }

// Name is the environment's; "" for none.
func (g Granted) Name() string { return g.name }

// At is the line of its block at the base commit, "lockstep.hcl:3".
func (g Granted) At() string { return g.at }

// Role returns the ARN of the role for the project's providers while it is applied or planned, and
// its external ID; "" leaves it to the deployment.
func (g Granted) Role(applies bool) (arn, externalID string) {
	if applies {
		return g.rights.applyRole, g.rights.externalID
	}
	return g.rights.planRole, g.rights.externalID
}

// GitHub is the name of the environment of GitHub in which applies are recorded; "" for none.
func (g Granted) GitHub() string { return g.rights.github }

// Runner is where the project is applied.
func (g Granted) Runner() Runner { return g.rights.runner }

// Region is that of providers; "" leaves it to the deployment.
func (g Granted) Region() string { return g.rights.region }

// Secrets are those that the project gets, sorted by name.
func (g Granted) Secrets() []Secret { return slices.Clone(g.rights.secrets) }

// encryption is the variable with a part of the encryption block, which is for nobody but that.
const encryption = "TF_ENCRYPTION"

// Encryption returns what the environment adds to the encryption block, TF_ENCRYPTION by name, if it
// is in env; it can be one of the Secrets, too.
func (g Granted) Encryption() map[string]string {
	if value, ok := g.rights.env[encryption]; ok {
		return map[string]string{encryption: value}
	}
	return nil
}

// Env are variables of the environment of providers, NAME=value, sorted.
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
