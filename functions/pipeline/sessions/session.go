// Package sessions gets the credentials with which a run can access its own state and nothing else. They are
// credentials of a role that is assumed for one job. A policy limits the credentials to the state's object, its
// lock and its digest. The functions' own roles can access no state.
//
// This package does not know what a state is used for, or how credentials get to a run's process. Start reading
// at [Role.For].
package sessions

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// A Role is a role that can access states.
type Role struct {
	ARN        string
	ExternalID string // "" for none
	STS        AssumeRoler
}

// AssumeRoler requests credentials of roles from AWS. *sts.Client implements it.
type AssumeRoler interface {
	AssumeRole(context.Context, *sts.AssumeRoleInput, ...func(*sts.Options)) (*sts.AssumeRoleOutput, error)
}

// Seconds is how long credentials are valid. If a role assumes another role, AWS allows no longer time. A run
// that takes longer gets new credentials. Source:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const Seconds = 3600

// For returns the credentials for the state of a job. It requests the credentials once before it returns, so
// that it can return the error if AWS refuses. If the backend block on the base branch names a role, that role
// is used for the state. The role r is always used for keys, which belong to the deployment.
func (r Role) For(ctx context.Context, j jobs.Job) (aws.CredentialsProvider, error) {
	own := j.State.Role()
	if j.Access == jobs.Keys {
		own = places.Role{}
	}
	if own.ARN != "" {
		r = Role{ARN: own.ARN, ExternalID: own.ExternalID, STS: r.STS}
	}
	partition, err := partitionOf(r.ARN)
	if err != nil {
		return nil, err
	}
	policy, err := policyOf(j.State, partition, j.Access)
	if err != nil {
		return nil, err
	}
	p := aws.NewCredentialsCache(aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		return r.assume(ctx, j, "the state", &policy)
	}))
	_, err = p.Retrieve(ctx)
	if err != nil && own.ARN != "" {
		err = fmt.Errorf("%w. The role is that of the backend block on the base branch: its trust policy must name the role of Lockstep's function and the block's external ID, as the module infra/state writes it, and the deployment's parameter StateRolePattern must match the role", err)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Whole returns credentials with all rights of the role, for the providers of a job.
func (r Role) Whole(ctx context.Context, j jobs.Job) (aws.Credentials, error) {
	return r.assume(ctx, j, "providers", nil)
}

// assume requests credentials for a purpose. policy limits the credentials; nil means no limit.
func (r Role) assume(ctx context.Context, j jobs.Job, purpose string, policy *string) (aws.Credentials, error) {
	in := &sts.AssumeRoleInput{
		RoleArn: &r.ARN, RoleSessionName: aws.String(sessionName(j)), DurationSeconds: aws.Int32(Seconds),
		Tags: tags(j), Policy: policy,
	}
	if r.ExternalID != "" {
		in.ExternalId = &r.ExternalID
	}
	out, err := r.STS.AssumeRole(ctx, in)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("get credentials for %s: assume the role %s: %w", purpose, r.ARN, err)
	}
	c := out.Credentials
	if c == nil {
		return aws.Credentials{}, fmt.Errorf("get credentials for %s: the answer has none", purpose)
	}
	return aws.Credentials{
		AccessKeyID: aws.ToString(c.AccessKeyId), SecretAccessKey: aws.ToString(c.SecretAccessKey), SessionToken: aws.ToString(c.SessionToken),
		Source: "lockstep " + purpose, CanExpire: c.Expiration != nil, Expires: aws.ToTime(c.Expiration),
	}, nil
}

// partitionOf returns the partition of a role: "aws", or that of China or GovCloud.
func partitionOf(arn string) (string, error) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") {
		return "", fmt.Errorf("%q is not the ARN of a role", arn)
	}
	return parts[1], nil
}

// tags returns the session tags that a role's trust policy can test: "repository", "pull" and "project". If a
// user requested the job, there is also "actor".
func tags(j jobs.Job) []types.Tag {
	out := []types.Tag{tag("repository", j.Repository()), tag("pull", strconv.Itoa(j.Number)), tag("project", j.Project)}
	if j.Actor != "" {
		out = append(out, tag("actor", j.Actor))
	}
	return out
}

// notInTag matches characters that the value of a tag must not contain. notInName matches those that the name
// of a session must not contain. Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_Tag.html
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

// sessionName returns the name that a session has in the account's logs. It has at most 64 characters.
func sessionName(j jobs.Job) string {
	name := notInName.ReplaceAllString(fmt.Sprintf("lockstep-%d-%s-%s", j.Number, j.Repo.Name, j.Project), "-")
	return name[:min(len(name), 64)]
}
