//go:build linux

package lambdatest

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// TestUploads holds that nothing comes into the bucket of artifacts but what is under its
// key and says whose it is, whoever's role allows the upload.
func TestUploads(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(service.Close)
	s := &Stack{t: t, hashKeys: map[string]string{}, StackOptions: StackOptions{
		Template: templates.ReadTemplate(t, "../../../template.yaml"), Name: "lockstep",
		Services: Services{S3: service.URL, DynamoDB: service.URL, SQS: service.URL, Account: service.URL},
	}}
	s.resolver = templates.Resolver{Template: s.Template, Refs: map[string]string{
		"AWS::Region": Region, "AWS::AccountId": AccountID, "AWS::Partition": "aws", "AWS::StackName": "lockstep", "AWS::StackId": "stack",
		"StateTable": "", "StateKeyArn": "", "Apps": "", "PermissionsBoundaryArn": "", "SubnetIds": "", "SecurityGroupIds": "", "EncryptionKeyArn": "", "PlanTargetRoleArn": "", "PlanRolePattern": "", "CalledFunctions": "lockstep-call-*", "CalledTopics": "lockstep-call-*", "BuildImages": "lockstep-build-*", "SigningKeys": "lockstep-call/*", "StateRolePattern": "", "ApplyRolePattern": "", "ApplyTargetRoleArn": "", "StateBucket": "states", "AppKeySecretArn": "app-key", "WebhookSecretArn": "webhook", "PageSecretArn": "", "CollectorSecretArn": "",
	}, Atts: map[string]string{}}
	s.names()
	for name, r := range s.Template.Resources {
		if r.Type == "AWS::SQS::Queue" {
			s.resolver.Atts[name+".Arn"] = "arn-" + name
		}
	}
	ours := s.resolver.Atts["Key.Arn"]
	said := base64.StdEncoding.EncodeToString([]byte(`{"repository":"acme/infra"}`))
	for name, test := range map[string]struct {
		role           string
		sse            types.ServerSideEncryption
		key, encrypted string
		want           bool
	}{
		"as the functions do it":           {"PlanRole", "aws:kms", ours, said, true},
		"without a word about encryption":  {"PlanRole", "", "", "", false},
		"under a key of S3's own":          {"PlanRole", "AES256", "", "", false},
		"under the account's default key":  {"PlanRole", "aws:kms", "", said, false},
		"under another key":                {"PlanRole", "aws:kms", ours + "0", said, false},
		"with another algorithm":           {"PlanRole", "aws:kms:dsse", ours, said, false},
		"without saying whose it is":       {"PlanRole", "aws:kms", ours, "", false},
		"saying something else":            {"PlanRole", "aws:kms", ours, base64.StdEncoding.EncodeToString([]byte(`{"pull":"1"}`)), false},
		"by a function that has no rights": {"WebhookRole", "aws:kms", ours, said, false},
	} {
		front := httptest.NewServer(s.newGate("function", test.role))
		client := s3.New(s3.Options{
			Region: Region, BaseEndpoint: &front.URL, UsePathStyle: true, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
		})
		in := &s3.PutObjectInput{Bucket: aws.String(s.Ref("Artifacts")), Key: aws.String("plan"), Body: bytes.NewReader([]byte("x")), ServerSideEncryption: test.sse}
		if test.key != "" {
			in.SSEKMSKeyId = &test.key
		}
		if test.encrypted != "" {
			in.SSEKMSEncryptionContext = &test.encrypted
		}
		if _, err := client.PutObject(t.Context(), in); (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
		front.Close()
	}
}
