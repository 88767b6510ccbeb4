package worker

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
)

// stores answers as Secrets Manager and SSM do, to the session of the target's role alone.
type stores struct {
	t     *testing.T
	asked []string
}

// ServeHTTP implements http.Handler.
// Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html,
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
func (s *stores) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		SecretId, Name string
		WithDecryption bool
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		s.t.Error(err)
	}
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	region := strings.Split(scope, "/")[2]
	s.asked = append(s.asked, r.Header.Get("X-Amz-Target")+" "+region+" "+in.SecretId+in.Name)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	refuse := func(status int, kind, message string) {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]string{"__type": kind, "Message": message})
	}
	switch {
	case !strings.HasPrefix(scope, "ASIATARGET/") || r.Header.Get("X-Amz-Security-Token") != "target-token":
		refuse(http.StatusBadRequest, "AccessDeniedException", "who are you?")
	case strings.HasSuffix(in.SecretId, ":secret:token"):
		json.NewEncoder(w).Encode(map[string]string{"SecretString": "correct-horse\n"})
	case strings.HasSuffix(in.SecretId, ":secret:binary"):
		json.NewEncoder(w).Encode(map[string]string{"SecretBinary": "AAAA"})
	case strings.HasSuffix(in.Name, ":parameter/a/b") && in.WithDecryption:
		json.NewEncoder(w).Encode(map[string]any{"Parameter": map[string]string{"Name": "/a/b", "Type": "SecureString", "Value": "staple"}})
	default:
		refuse(http.StatusBadRequest, "ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
	}
}

const targets = "  plan_role = \"arn:aws:iam::333333333333:role/plan\"\n  apply_role = \"arn:aws:iam::333333333333:role/apply\"\n"

// vaultAt is a vault whose function has credentials of its own, which open nothing here.
func vaultAt(t *testing.T, s *stores, a *assuming) vault {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return vault{
		target: target{Region: "eu-central-1", STS: a},
		AWS: aws.Config{Region: "eu-central-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("ASIAFUNCTION", "function-secret", "function-token"),
			RetryMaxAttempts: 1},
	}
}

// TestVault holds that secrets are read with the role of their environment, each in its own region.
func TestVault(t *testing.T) {
	t.Parallel()
	s, a := &stores{t: t}, &assuming{}
	j := job
	j.Environment = granted(t, targets+"  secrets = {\n    TF_VAR_token = \"arn:aws:secretsmanager:us-west-2:333333333333:secret:token\"\n    WORD = \"arn:aws:ssm:eu-west-1:333333333333:parameter/a/b\"\n  }\n")
	got, err := vaultAt(t, s, a).values(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"TF_VAR_token": "correct-horse\n", "WORD": "staple"}, got); d != "" {
		t.Error(d)
	}
	want := []string{
		"secretsmanager.GetSecretValue us-west-2 arn:aws:secretsmanager:us-west-2:333333333333:secret:token",
		"AmazonSSM.GetParameter eu-west-1 arn:aws:ssm:eu-west-1:333333333333:parameter/a/b",
	}
	if d := cmp.Diff(want, s.asked); d != "" || aws.ToString(a.in.RoleArn) != "arn:aws:iam::333333333333:role/plan" {
		t.Errorf("%s as %s", d, aws.ToString(a.in.RoleArn))
	}
	// Without secrets nothing is asked for.
	s, a = &stores{t: t}, &assuming{}
	if got, err := vaultAt(t, s, a).values(t.Context(), job); err != nil || len(got) > 0 || s.asked != nil || a.in != nil {
		t.Errorf("%v, %v, %v", got, err, s.asked)
	}
}

// TestVaultRefused is a table of secrets that cannot be had: which, and what to do.
func TestVaultRefused(t *testing.T) {
	t.Parallel()
	for arn, want := range map[string]string{
		"arn:aws:secretsmanager:us-east-1:333333333333:secret:none":   "ResourceNotFoundException",
		"arn:aws:ssm:us-east-1:333333333333:parameter/none":           "ResourceNotFoundException",
		"arn:aws:secretsmanager:us-east-1:333333333333:secret:binary": "it holds no text",
	} {
		j := job
		j.Environment = granted(t, targets+"  secrets = {\n    TF_VAR_x = \""+arn+"\"\n  }\n")
		_, err := vaultAt(t, &stores{t: t}, &assuming{}).values(t.Context(), j)
		for _, want := range []string{want, "TF_VAR_x", arn, "lockstep.hcl:5 on the base branch", "arn:aws:iam::333333333333:role/plan", "secret_arns"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %s", arn, err, want)
			}
		}
		_, err = vaultAt(t, &stores{t: t}, &assuming{err: errors.New("AccessDenied")}).values(t.Context(), j)
		if err == nil || !strings.Contains(err.Error(), "assume the role") {
			t.Errorf("without the role: %v", err)
		}
	}
}
