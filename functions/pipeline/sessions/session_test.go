package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// assuming keeps how it was asked, and gives credentials that live for a time.
type assuming struct {
	in    []*sts.AssumeRoleInput
	lives time.Duration
	err   error
}

func (a *assuming) AssumeRole(_ context.Context, in *sts.AssumeRoleInput, _ ...func(*sts.Options)) (*sts.AssumeRoleOutput, error) {
	a.in = append(a.in, in)
	return &sts.AssumeRoleOutput{Credentials: &types.Credentials{
		AccessKeyId: aws.String(fmt.Sprintf("ASIA%d", len(a.in))), SecretAccessKey: aws.String("secret"), SessionToken: aws.String("token"),
		Expiration: aws.Time(time.Now().Add(a.lives)),
	}}, a.err
}

var job = jobs.Job{
	Project:    "net (prod)",
	Repo:       github.Repo{ID: 1, Owner: "acme", Name: "infra"},
	Number:     7,
	StateGrant: jobs.StateGrant{State: places.Place{Backend: "s3", Bucket: "states", Key: "net/terraform.tfstate", Arguments: map[string]any{"dynamodb_table": "locks"}}},
}

func TestFor(t *testing.T) {
	t.Parallel()
	a := &assuming{lives: time.Hour}
	role := Role{ARN: "arn:aws-cn:iam::1:role/states", ExternalID: "the stack", STS: a}
	p, err := role.For(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Retrieve(t.Context())
	if err != nil || c.AccessKeyID != "ASIA1" || c.SessionToken != "token" || !c.CanExpire || len(a.in) != 1 {
		t.Errorf("%+v, %v, %d requests", c, err, len(a.in))
	}
	in := a.in[0]
	asked := map[string]string{
		"role": aws.ToString(in.RoleArn), "external id": aws.ToString(in.ExternalId), "session": aws.ToString(in.RoleSessionName), "seconds": fmt.Sprint(aws.ToInt32(in.DurationSeconds)),
	}
	for _, tag := range in.Tags {
		asked[*tag.Key] = *tag.Value
	}
	want := map[string]string{
		"role": "arn:aws-cn:iam::1:role/states", "external id": "the stack", "session": "lockstep-7-infra-net--prod-", "seconds": "3600",
		"repository": "acme/infra", "pull": "7", "project": "net _prod_",
	}
	if d := cmp.Diff(want, asked); d != "" {
		t.Error(d)
	}
	if !strings.Contains(aws.ToString(in.Policy), `"arn:aws-cn:s3:::states/net/terraform.tfstate"`) || strings.Contains(aws.ToString(in.Policy), `"arn:aws:`) {
		t.Errorf("the policy is not for this partition: %s", aws.ToString(in.Policy))
	}
}

// TestForLong holds that a run which outlives its credentials gets new ones.
// TestForByTheBlock has the role of the backend block for the state, narrowed alike, and the deployment's for keys.
func TestForByTheBlock(t *testing.T) {
	t.Parallel()
	a := &assuming{lives: time.Hour}
	role := Role{ARN: "arn:aws:iam::1:role/states", ExternalID: "the stack", STS: a}
	by := job
	by.State = job.State.With(places.RoleArgument, map[string]any{"role_arn": "arn:aws:iam::222222222222:role/theirs", "external_id": "of theirs", "policy": "*"})
	for _, access := range []jobs.Access{jobs.Reads, jobs.Writes, jobs.Keys} {
		by.Access = access
		if _, err := role.For(t.Context(), by); err != nil {
			t.Fatal(err)
		}
		in := a.in[len(a.in)-1]
		arn, id := "arn:aws:iam::222222222222:role/theirs", "of theirs"
		if access == jobs.Keys {
			arn, id = role.ARN, role.ExternalID
		}
		want, err := policyOf(by.State, "aws", access)
		if err != nil || aws.ToString(in.RoleArn) != arn || aws.ToString(in.ExternalId) != id || aws.ToString(in.Policy) != want {
			t.Errorf("%v: %s, %s, %s, %v", access, aws.ToString(in.RoleArn), aws.ToString(in.ExternalId), aws.ToString(in.Policy), err)
		}
	}
	a.err = errors.New("AccessDenied")
	by.Access = jobs.Reads
	if _, err := role.For(t.Context(), by); err == nil || !strings.Contains(err.Error(), "AccessDenied. The role is that of the backend block on the base branch") || !strings.Contains(err.Error(), "StateRolePattern") {
		t.Errorf("refused: %v", err)
	}
}

func TestForLong(t *testing.T) {
	t.Parallel()
	a := &assuming{lives: -time.Second}
	p, err := Role{ARN: "arn:aws:iam::1:role/states", STS: a}.For(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := p.Retrieve(t.Context()); err != nil || c.AccessKeyID != "ASIA2" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestForRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		role Role
		job  func(*jobs.Job)
		want string
	}{
		"the role says no":  {Role{ARN: "arn:aws:iam::1:role/states", ExternalID: "the stack", STS: &assuming{err: errors.New("AccessDenied")}}, func(*jobs.Job) {}, "assume the role arn:aws:iam::1:role/states: AccessDenied"},
		"no role":           {Role{}, func(*jobs.Job) {}, "is not the ARN of a role"},
		"a state elsewhere": {Role{ARN: "arn:aws:iam::1:role/states"}, func(j *jobs.Job) { j.State = places.Local }, "not in S3"},
		"a long key":        {Role{ARN: "arn:aws:iam::1:role/states"}, func(j *jobs.Job) { j.State.Key = strings.Repeat("k", 900) }, "choose a shorter key"},
	} {
		j := job
		test.job(&j)
		if p, err := test.role.For(t.Context(), j); err == nil || p != nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "the stack") {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

// policies are the statements of sessions.
var policies = map[jobs.Access][]string{
	jobs.Reads: {
		"Allow s3:GetObject on arn:aws:s3:::states/net/terraform.tfstate arn:aws:s3:::states/.lockstep/journal/net%2Fterraform.tfstate/* arn:aws:s3:::states/net/terraform.tfstate.tflock",
		"Allow s3:ListBucket on arn:aws:s3:::states",
		`Allow kms:Decrypt on * if {"StringLike":{"kms:ViaService":["s3.*"]}}`,
		`Allow dynamodb:GetItem on arn:aws:dynamodb:*:*:table/locks if {"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["states/net/terraform.tfstate","states/net/terraform.tfstate-md5"]}}`,
	},
	jobs.Unlocks: {
		"Allow s3:GetObject on arn:aws:s3:::states/net/terraform.tfstate arn:aws:s3:::states/.lockstep/journal/net%2Fterraform.tfstate/*",
		"Allow s3:GetObject s3:DeleteObject on arn:aws:s3:::states/net/terraform.tfstate.tflock",
		"Allow s3:ListBucket on arn:aws:s3:::states",
		`Allow kms:Decrypt on * if {"StringLike":{"kms:ViaService":["s3.*"]}}`,
		`Allow dynamodb:GetItem dynamodb:DeleteItem on arn:aws:dynamodb:*:*:table/locks if {"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["states/net/terraform.tfstate"]}}`,
		`Allow dynamodb:GetItem on arn:aws:dynamodb:*:*:table/locks if {"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["states/net/terraform.tfstate-md5"]}}`,
	},
	jobs.Writes: {
		"Allow s3:GetObject s3:PutObject on arn:aws:s3:::states/net/terraform.tfstate",
		"Allow s3:GetObject s3:PutObject s3:DeleteObject on arn:aws:s3:::states/net/terraform.tfstate.tflock arn:aws:s3:::states/.lockstep/journal/net%2Fterraform.tfstate/*",
		"Allow s3:ListBucket on arn:aws:s3:::states",
		`Allow kms:Decrypt kms:GenerateDataKey on * if {"StringLike":{"kms:ViaService":["s3.*"]}}`,
		`Allow dynamodb:GetItem dynamodb:PutItem dynamodb:DeleteItem on arn:aws:dynamodb:*:*:table/locks if {"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["states/net/terraform.tfstate","states/net/terraform.tfstate-md5","states/net/terraform.tfstate-lockstep"]}}`,
	},
}

// TestKeysOnly holds that a session for keys reaches no state, and nothing that S3 has encrypted.
func TestKeysOnly(t *testing.T) {
	t.Parallel()
	for _, at := range []places.Place{job.State, places.Local} {
		text, err := policyOf(at, "aws", jobs.Keys)
		const want = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["kms:Decrypt","kms:GenerateDataKey"],"Resource":["*"],"Condition":{"Null":{"kms:EncryptionContextKeys":["true"]}}}]}`
		if err != nil || text != want {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// TestPolicy holds what sessions may do: a plan's writes nothing at all, neither locks nor leases nor
// journals. The policies of long keys fit.
func TestPolicy(t *testing.T) {
	t.Parallel()
	for access, want := range policies {
		text, err := policyOf(job.State, "aws", access)
		if err != nil {
			t.Fatal(err)
		}
		var document struct{ Statement []statement }
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range document.Statement {
			condition, _ := json.Marshal(s.Condition)
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%s %s on %s if %s", s.Effect, strings.Join(s.Action, " "), strings.Join(s.Resource, " "), condition), " if null"))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("access %v:%s", access, d)
		}
		long := job.State
		long.Bucket, long.Key = strings.Repeat("b", 63), strings.Repeat("k", 140)
		long = long.With(places.TableArgument, strings.Repeat("t", 60))
		if text, err := policyOf(long, "aws-us-gov", access); err != nil || len(text) > MaxPolicy {
			t.Errorf("access %v: %d characters for a key of %d: %v", access, len(text), len(long.Key), err)
		}
	}
}

func TestNamesAreValid(t *testing.T) {
	t.Parallel()
	long := job
	long.Project = strings.Repeat("ü", 300)
	long.Repo.Name = strings.Repeat("r", 100)
	if n := sessionName(long); len(n) > 64 || notInName.MatchString(n) {
		t.Errorf("session name %q", n)
	}
	if v := *tag("project", long.Project+"<>").Value; len([]rune(v)) > 256 || notInTag.MatchString(v) {
		t.Errorf("tag %q", v)
	}
}

// TestTagsOfApps holds that no role which trusts a repository on one server can be had from another server's of the same
// name.
func TestTagsOfApps(t *testing.T) {
	t.Parallel()
	for app, want := range map[string]string{"": "acme/infra", "ghes": "ghes:acme/infra"} {
		j := jobs.Job{App: app, Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}}
		if got := *tags(j)[0].Value; got != want {
			t.Errorf("%q: %s", app, got)
		}
	}
}
