package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github"
)

// assuming keeps how it was asked.
type assuming struct {
	in  *sts.AssumeRoleInput
	err error
}

func (a *assuming) AssumeRole(_ context.Context, in *sts.AssumeRoleInput, _ ...func(*sts.Options)) (*sts.AssumeRoleOutput, error) {
	a.in = in
	return &sts.AssumeRoleOutput{Credentials: &types.Credentials{
		AccessKeyId: aws.String("ASIATARGET"), SecretAccessKey: aws.String("target-secret"), SessionToken: aws.String("target-token"),
	}}, a.err
}

var job = jobs.Job{Project: "net (prod)", Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7}

func TestEnv(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "ASIAFUNCTION")
	t.Setenv("AWS_SESSION_TOKEN", "function-token")
	a := &assuming{}
	target := Target{Role: "arn:aws:iam::2:role/plan", ExternalID: "only we know", Region: "eu-central-1", STS: a}
	got, err := target.Env(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ACCESS_KEY_ID=ASIATARGET", "AWS_SECRET_ACCESS_KEY=target-secret", "AWS_SESSION_TOKEN=target-token",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	asked := map[string]string{
		"role": aws.ToString(a.in.RoleArn), "external id": aws.ToString(a.in.ExternalId), "session": aws.ToString(a.in.RoleSessionName),
	}
	for _, tag := range a.in.Tags {
		asked[*tag.Key] = *tag.Value
	}
	wantAsked := map[string]string{
		"role": "arn:aws:iam::2:role/plan", "external id": "only we know", "session": "lockstep-7-infra-net--prod-",
		"repository": "acme/infra", "pull": "7", "project": "net _prod_",
	}
	if d := cmp.Diff(wantAsked, asked); d != "" {
		t.Error(d)
	}
}

func TestEnvWithoutRole(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "ASIAFUNCTION")
	got, err := Target{Region: "eu-central-1"}.Env(t.Context(), job)
	if err != nil || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "KEY") || strings.Contains(s, "TOKEN") }) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEnvRefused(t *testing.T) {
	target := Target{Role: "arn:aws:iam::2:role/plan", ExternalID: "only we know", STS: &assuming{err: errors.New("AccessDenied")}}
	if got, err := target.Env(t.Context(), job); err == nil || got != nil || strings.Contains(err.Error(), "only we know") {
		t.Errorf("%q, %v", got, err)
	}
}
