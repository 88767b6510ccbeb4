package serving

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/lockstep-iac/lockstep/functions/page/signin"
)

// TestScopeOf is a table of arguments of page link.
func TestScopeOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]signin.Scope{
		"acme/infra": {Owner: "acme", Name: "infra"}, "acme/infra#7": {Owner: "acme", Name: "infra", Pull: 7},
		"acme": {}, "acme/infra#0": {}, "acme/infra#x": {}, "acme/infra/pull/7": {}, "a b/c": {}, "": {}, "https://github.com/acme/infra": {},
	} {
		got, err := scopeOf(text)
		if got != want || (err == nil) != (want != signin.Scope{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestPageLink is a table of deployments, and of what page link says about them.
func TestPageLink(t *testing.T) {
	t.Parallel()
	const key = "a key of the page with more than 32 characters"
	for name, test := range map[string]struct{ stack, secret, want string }{
		"without a sign-in": {"<Outputs><member><OutputKey>PageAddress</OutputKey><OutputValue>https://page.example/</OutputValue></member></Outputs><Parameters><member><ParameterKey>PageSecretArn</ParameterKey><ParameterValue>arn:aws:secretsmanager:us-east-1:1:secret:page</ParameterValue></member></Parameters>", `{"key": "` + key + `"}`, ""},
		"with a sign-in":    {"<Outputs><member><OutputKey>PageAddress</OutputKey><OutputValue>https://page.example/</OutputValue></member></Outputs><Parameters><member><ParameterKey>PageSecretArn</ParameterKey><ParameterValue>arn</ParameterValue></member></Parameters>", `{"key": "` + key + `", "client_id": "Iv1", "client_secret": "hush"}`, "it accepts no links"},
		"without a page":    {"", "", "the stack lockstep has no page"},
		"without a key":     {"<Outputs><member><OutputKey>PageAddress</OutputKey><OutputValue>https://page.example/</OutputValue></member></Outputs><Parameters><member><ParameterKey>PageSecretArn</ParameterKey><ParameterValue>arn</ParameterValue></member></Parameters>", `{}`, "shorter than 32"},
		"with another text": {"<Outputs><member><OutputKey>PageAddress</OutputKey><OutputValue>https://page.example/</OutputValue></member></Outputs><Parameters><member><ParameterKey>PageSecretArn</ParameterKey><ParameterValue>arn</ParameterValue></member></Parameters>", key, "it is not a JSON object"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Amz-Target") == "secretsmanager.GetSecretValue" {
				w.Header().Set("Content-Type", "application/x-amz-json-1.1")
				fmt.Fprintf(w, `{"SecretString": %q}`, test.secret)
				return
			}
			fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>lockstep</StackName>%s</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`, test.stack)
		}))
		t.Cleanup(server.Close)
		c := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
		link, err := pageLink(t.Context(), c, "lockstep", signin.Scope{Owner: "acme", Name: "infra", Pull: 7})
		switch {
		case test.want == "" && (err != nil || !strings.HasPrefix(link, "https://page.example/link?") || strings.Contains(link, key)):
			t.Errorf("%s: %q, %v", name, link, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), key)):
			t.Errorf("%s: %q, %v", name, link, err)
		}
	}
}
