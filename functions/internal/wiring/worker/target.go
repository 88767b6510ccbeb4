package worker

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/sessions"
)

// A target says which role's credentials providers get: the role of the project's environment. If the
// environment has none, it is the role of the deployment.
type target struct {
	// Role is the ARN of the deployment's role for providers. If it is "", providers get no credentials.
	Role       string
	ExternalID string // "" for none
	Region     string
	// Applies is set in the function that applies. Providers then get the environment's role for applies.
	// Otherwise they get its role for plans.
	Applies bool
	STS     sessions.AssumeRoler
}

// Env returns the environment variables for a job's providers, as NAME=value. It assumes the role with tags
// that the role's trust policy can test: repository, pull, project and actor.
func (t target) Env(ctx context.Context, j jobs.Job) ([]string, error) {
	region := cmp.Or(j.Environment.Region(), t.Region)
	// A provider without credentials would ask the EC2 metadata service for some. A Lambda function has no such
	// service, so the provider would wait for nothing.
	env := append(j.Environment.Env(), "AWS_REGION="+region, "AWS_DEFAULT_REGION="+region, "AWS_EC2_METADATA_DISABLED=true")
	out, err := t.session(ctx, j)
	if err != nil {
		return nil, err
	}
	if out.AccessKeyID == "" {
		return env, nil
	}
	return append(env,
		"AWS_ACCESS_KEY_ID="+out.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY="+out.SecretAccessKey,
		"AWS_SESSION_TOKEN="+out.SessionToken,
	), nil
}

// session returns temporary credentials of a job's role; empty credentials if there is no role.
func (t target) session(ctx context.Context, j jobs.Job) (aws.Credentials, error) {
	role, external := j.Environment.Role(t.Applies)
	if role == "" && t.Role == "" {
		return aws.Credentials{}, nil
	}
	out, err := sessions.Role{ARN: cmp.Or(role, t.Role), ExternalID: cmp.Or(external, t.ExternalID), STS: t.STS}.Whole(ctx, j)
	if err != nil && role != "" {
		err = fmt.Errorf("%w. The role is that of the environment %q (%s on the base branch): its trust policy must name the role of Lockstep's function, the external ID and this repository, as the module infra/target writes it, and the deployment's parameters PlanRolePattern and ApplyRolePattern must match the roles", err, j.Environment.Name(), j.Environment.At())
	}
	return out, err
}
