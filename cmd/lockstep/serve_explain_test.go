package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/decisionlog"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestGateExplainTable explains a decision from the table of a deployment.
func TestGateExplainTable(t *testing.T) {
	t.Parallel()
	d, url := programtest.NewDir(t), statebackendtest.StartDynoxide(t)
	records := awsstore.Records{Table: "records", Client: awsdynamodb.New(awsdynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider(statebackendtest.AccessKey, statebackendtest.SecretKey, ""),
	})}
	if _, err := records.Client.CreateTable(t.Context(), &awsdynamodb.CreateTableInput{
		TableName: &records.Table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("Dir"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("Name"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("Dir"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("Name"), KeyType: types.KeyTypeRange}},
	}); err != nil {
		t.Fatal(err)
	}
	q := requirementrules.Question{Command: "apply", Requirements: []requirements.Requirement{{Command: "apply", At: "lockstep.hcl:3", Rules: requirements.Rules{Ready: true}}}}
	q.Facts = requirementrules.Facts{Now: time.Now(), Actor: "alice", Pull: requirementrules.Pull{Draft: true}}
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Number: 7}, Project: "net", Workspace: "default"}, Spec: runs.Spec{Dir: "net"}}
	if err := decisionlog.Keep(t.Context(), records, r, q); err != nil {
		t.Fatal(err)
	}
	d.Env = append(d.Env, "AWS_ENDPOINT_URL_DYNAMODB="+url, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID="+statebackendtest.AccessKey, "AWS_SECRET_ACCESS_KEY="+statebackendtest.SecretKey)
	if r := d.Run("gate", "explain", "-table", "records", "acme/infra#7"); r.Code != 2 || !strings.Contains(r.Out, "acme/infra#7 net: lockstep apply, asked by alice") || !strings.Contains(r.Out, "lockstep.hcl:3") {
		t.Errorf("%d: %s%s", r.Code, r.Out, r.Stderr)
	}
	if r := d.Run("gate", "explain", "-table", "others", "acme/infra#7"); r.Code != 1 || !strings.Contains(r.Stderr, "list the questions about acme/infra#7") {
		t.Errorf("%d: %s%s", r.Code, r.Out, r.Stderr)
	}
}

// TestGateExplain explains the decisions of a serve, while it runs and afterwards, as of other times, and from a file.
func TestGateExplain(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	p := s.waiting("  freeze    = [\"2001-12-20/2002-01-06 UTC: holidays\"]\n")
	explain := func(code int, args string, want ...string) string {
		t.Helper()
		r := s.Run(append([]string{"gate", "explain"}, strings.Fields(args)...)...)
		for _, w := range want {
			if r.Code != code || !strings.Contains(r.Out+r.Stderr, w) {
				t.Errorf("gate explain %s: %d, lacks %q: %s%s", args, r.Code, w, r.Out, r.Stderr)
			}
		}
		return r.Out
	}
	explain(1, "-data data acme/infra#1", "no decision is recorded about acme/infra#1", "somebody gives a command")
	s.repo.Comment("alice", 1, "lockstep apply")
	s.deliver()
	s.await("**Not applied**")
	explain(2, "-data data acme/infra#1", "acme/infra#1 network: lockstep apply, asked by alice, as of 20", "Not all requirements are met.", "lockstep.hcl:5", "not met: an approval of the planned commit")
	explain(2, "-data data -at 2001-12-24T08:00:00Z ACME/infra#1", "as of 2001-12-24 08:00:00 UTC", "holidays")
	s.repo.Grant("bob", "write")
	s.repo.Review("bob", 1, "approved", "")
	s.repo.Comment("alice", 1, "lockstep apply")
	s.deliver()
	s.await("**Applied** `network`")
	p.stop(os.Interrupt)
	explain(0, "-data data -p net* -command apply acme/infra#1", "All requirements are met.", "by `bob`")
	explain(2, "-data data -at 2001-12-24T08:00:00Z acme/infra#1", "Not all requirements are met.", "holidays")

	questions := explain(0, "-data data -json acme/infra#1", `"Author": "bob"`)
	if !json.Valid([]byte(questions)) {
		t.Errorf("no JSON: %s", questions)
	}
	s.Write("asked.json", strings.ReplaceAll(questions, `"State": "approved"`, `"State": "dismissed"`))
	explain(2, "-file asked.json", "not met: an approval of the planned commit")
	s.Write("broken.json", "{")
	for args, want := range map[string]string{
		"-file broken.json":                     "the output of `lockstep gate explain -json`",
		"-file nowhere.json":                    "-file: ",
		"-data data acme/infra":                 "write OWNER/NAME#NUMBER",
		"-data data acme/infra#0":               "write OWNER/NAME#NUMBER",
		"-data data acme/../../x#1":             "write OWNER/NAME#NUMBER",
		"-data nowhere acme/infra#1":            "there is no data directory nowhere",
		"-data data acme/infra#2":               "no decision is recorded about acme/infra#2",
		"-data data -p app acme/infra#1":        "choose one of network (apply)",
		"-data data -command plan acme/infra#1": "choose one of network (apply)",
		"-data data -p [ acme/infra#1":          "is not a valid pattern",
		"-data data -at soon acme/infra#1":      "write it like -at",
		"-file asked.json acme/infra#1":         "Missing pull request",
	} {
		explain(1, args, want)
	}
}
