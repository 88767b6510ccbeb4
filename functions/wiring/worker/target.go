package worker

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/lockstep-iac/lockstep/functions/run"
)

// A Target is the role that providers have.
type Target struct {
	// Role is its ARN; "" gives providers no credentials.
	Role       string
	ExternalID string // "" for none
	Region     string
	STS        AssumeRoler
}

// AssumeRoler gives credentials of roles; *sts.Client is it.
type AssumeRoler interface {
	AssumeRole(context.Context, *sts.AssumeRoleInput, ...func(*sts.Options)) (*sts.AssumeRoleOutput, error)
}

// credentialsSeconds is how long credentials live: a role that was assumed by a role gives
// no longer ones, and no function lives as long.
// Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const credentialsSeconds = 3600

// Env returns the environment variables, NAME=value, that a job's providers get. The role
// is told for whom it is assumed, in tags that its trust policy can ask for: repository,
// pull and project.
func (t Target) Env(ctx context.Context, j run.Job) ([]string, error) {
	// What has no credentials must not find others: the function's metadata have none, but
	// a provider that looks for them waits in vain.
	env := []string{"AWS_REGION=" + t.Region, "AWS_DEFAULT_REGION=" + t.Region, "AWS_EC2_METADATA_DISABLED=true"}
	if t.Role == "" {
		return env, nil
	}
	in := &sts.AssumeRoleInput{
		RoleArn: &t.Role, RoleSessionName: aws.String(sessionName(j)), DurationSeconds: aws.Int32(credentialsSeconds),
		Tags: []types.Tag{
			tag("repository", j.Repo.String()), tag("pull", strconv.Itoa(j.Number)), tag("project", j.Project),
		},
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

// notInTag are characters that the value of a tag must not have, notInName those that the
// name of a session must not.
// Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_Tag.html
var (
	notInTag  = regexp.MustCompile(`[^\p{L}\p{Z}\p{N}_.:/=+\-@]`)
	notInName = regexp.MustCompile(`[^\w+=,.@-]`)
)

func tag(name, value string) types.Tag {
	value = notInTag.ReplaceAllString(value, "_")
	if r := []rune(value); len(r) > 256 {
		value = string(r[:256])
	}
	return types.Tag{Key: &name, Value: &value}
}

// sessionName is what the account's records call it: at most 64 characters.
func sessionName(j run.Job) string {
	name := notInName.ReplaceAllString(fmt.Sprintf("lockstep-%d-%s-%s", j.Number, j.Repo.Name, j.Project), "-")
	return name[:min(len(name), 64)]
}
