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
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
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
	x := target{Role: "arn:aws:iam::2:role/plan", ExternalID: "only we know", Region: "eu-central-1", STS: a}
	got, err := x.Env(t.Context(), job)
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
	got, err := target{Region: "eu-central-1"}.Env(t.Context(), job)
	if err != nil || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "KEY") || strings.Contains(s, "TOKEN") }) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEnvRefused(t *testing.T) {
	x := target{Role: "arn:aws:iam::2:role/plan", ExternalID: "only we know", STS: &assuming{err: errors.New("AccessDenied")}}
	if got, err := x.Env(t.Context(), job); err == nil || got != nil || strings.Contains(err.Error(), "only we know") {
		t.Errorf("%q, %v", got, err)
	}
}

// granted is the environment of a base commit's lockstep.hcl.
func granted(t *testing.T, body string) environments.Granted {
	t.Helper()
	s, ds := project.Parse(project.FileName, []byte("environment \"prod\" {\n"+body+"}\n"))
	if ds != nil {
		t.Fatal(ds)
	}
	g, err := s.Grant(project.Project{Name: "net", Environment: "prod"}, project.Grantee{Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestEnvOfEnvironments holds which role providers have, by the environment that is granted: its own
// in its own region, else the deployment's; a plan never has the role of an apply.
func TestEnvOfEnvironments(t *testing.T) {
	const roles = "  plan_role = \"arn:aws:iam::333333333333:role/plan\"\n  apply_role = \"arn:aws:iam::333333333333:role/apply\"\n"
	for name, test := range map[string]struct {
		body    string
		applies bool
		want    string // role and external ID
		env     []string
	}{
		"none":          {"", false, "arn:aws:iam::2:role/ours ours", []string{"AWS_REGION=eu-central-1"}},
		"a plan":        {roles + "  external_id = \"theirs\"\n  region = \"us-west-2\"\n", false, "arn:aws:iam::333333333333:role/plan theirs", []string{"AWS_REGION=us-west-2", "AWS_DEFAULT_REGION=us-west-2"}},
		"an apply":      {roles + "  external_id = \"theirs\"\n", true, "arn:aws:iam::333333333333:role/apply theirs", []string{"AWS_REGION=eu-central-1"}},
		"our ID":        {roles, false, "arn:aws:iam::333333333333:role/plan ours", nil},
		"variables":     {"  env = { TEAM = \"net\" }\n", false, "arn:aws:iam::2:role/ours ours", []string{"TEAM=net"}},
		"no imposition": {"  env = { AWS_REGION = \"x\", AWS_EC2_METADATA_DISABLED = \"false\" }\n", false, "arn:aws:iam::2:role/ours ours", []string{"AWS_REGION=eu-central-1", "AWS_EC2_METADATA_DISABLED=true"}},
	} {
		a := &assuming{}
		j := job
		j.Environment, j.Actor = granted(t, test.body), "alice"
		got, err := target{Role: "arn:aws:iam::2:role/ours", ExternalID: "ours", Region: "eu-central-1", Applies: test.applies, STS: a}.Env(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		if asked := aws.ToString(a.in.RoleArn) + " " + aws.ToString(a.in.ExternalId); asked != test.want {
			t.Errorf("%s: %s, want %s", name, asked, test.want)
		}
		last := map[string]string{}
		for _, kv := range got {
			k, _, _ := strings.Cut(kv, "=")
			last[k] = kv // as a process finds it
		}
		for _, kv := range test.env {
			if k, _, _ := strings.Cut(kv, "="); last[k] != kv {
				t.Errorf("%s: %q, want %s", name, got, kv)
			}
		}
		if tag := a.in.Tags[len(a.in.Tags)-1]; *tag.Key != "actor" || *tag.Value != "alice" {
			t.Errorf("%s: the last tag is %s=%s", name, *tag.Key, *tag.Value)
		}
	}
	// The deployment has no role of its own.
	a := &assuming{err: errors.New("AccessDenied")}
	j := job
	j.Environment = granted(t, roles)
	_, err := target{ExternalID: "only we know", STS: a}.Env(t.Context(), j)
	for _, want := range []string{"assume the role arn:aws:iam::333333333333:role/plan: AccessDenied", `the environment "prod" (lockstep.hcl:1 on the base branch)`, "trust policy"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "only we know") {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
