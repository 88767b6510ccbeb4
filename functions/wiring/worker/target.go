package worker

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/sessions"
)

// A Target is the role that providers have.
type Target struct {
	// Role is its ARN; "" gives providers no credentials.
	Role       string
	ExternalID string // "" for none
	Region     string
	STS        sessions.AssumeRoler
}

// Env returns the environment variables, NAME=value, that a job's providers get. The role
// is told for whom it is assumed, in tags that its trust policy can ask for: repository,
// pull and project.
func (t Target) Env(ctx context.Context, j jobs.Job) ([]string, error) {
	// A process without credentials must not find others: the function's metadata have none, but a
	// provider that looks for them waits in vain.
	env := []string{"AWS_REGION=" + t.Region, "AWS_DEFAULT_REGION=" + t.Region, "AWS_EC2_METADATA_DISABLED=true"}
	if t.Role == "" {
		return env, nil
	}
	in := &sts.AssumeRoleInput{
		RoleArn: &t.Role, RoleSessionName: aws.String(sessions.Name(j)), DurationSeconds: aws.Int32(sessions.Seconds),
		Tags: sessions.Tags(j),
	}
	if t.ExternalID != "" {
		in.ExternalId = &t.ExternalID
	}
	out, err := t.STS.AssumeRole(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("get credentials for providers: assume the role %s: %w", t.Role, err)
	}
	c := out.Credentials
	return append(env,
		"AWS_ACCESS_KEY_ID="+aws.ToString(c.AccessKeyId),
		"AWS_SECRET_ACCESS_KEY="+aws.ToString(c.SecretAccessKey),
		"AWS_SESSION_TOKEN="+aws.ToString(c.SessionToken),
	), nil
}
