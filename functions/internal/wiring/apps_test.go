package wiring

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestFor holds that the world of an App has the App's key, addresses and owners, and of the stores the App's part; that its
// repositories, which have names of others, own no states; and that there is none of an App that nobody has named.
func TestFor(t *testing.T) {
	t.Parallel()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	var asked []string
	// Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
	secrets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ SecretId string }
		json.NewDecoder(r.Body).Decode(&in)
		asked = append(asked, in.SecretId)
		if in.SecretId != "lockstep/apps/ghes/github-app-key" {
			w.WriteHeader(http.StatusBadRequest)
			json.NewEncoder(w).Encode(map[string]string{"__type": "ResourceNotFoundException"})
			return
		}
		json.NewEncoder(w).Encode(map[string]string{"SecretString": githubtest.New(githubtest.Options{}).AppKey()})
	}))
	t.Cleanup(secrets.Close)
	serves, err := intake.ParseServes("acme")
	if err != nil {
		t.Fatal(err)
	}
	apps, err := applist.Parse("ghes 12 https://github.acme.example/api/v3/ labs; lost 1 https://lost.example/")
	if err != nil {
		t.Fatal(err)
	}
	var sent taken
	w := &World{
		Settings: Settings{Apps: apps, AppsSecrets: "lockstep/apps/", Serves: serves, OwnStates: places.Own{"s3://states/{owner}/{name}/**"}, TargetRole: "arn"},
		Log:      logger(Plan), Intake: &intake.Intake{Records: data.Records, Queue: &sent, Serves: serves}, Artifacts: data.Artifacts,
		AWS: aws.Config{Region: "eu-central-1", BaseEndpoint: &secrets.URL, RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("A", "s", "")},
	}
	if first, err := w.For(t.Context(), ""); err != nil || first != w {
		t.Error(first, err)
	}
	x, err := w.For(t.Context(), "ghes")
	if err != nil {
		t.Fatal(err)
	}
	if x.App == nil || x.AppID != 12 || x.GitHubURL != "https://github.acme.example/api/v3/" || x.Intake.Serves.NamesOwner("acme") || !x.Intake.Serves.NamesOwner("labs") || x.OwnStates != nil || x.TargetRole != "arn" || len(x.Secrets) != 1 || len(w.Secrets) != 0 {
		t.Errorf("%+v", x)
	}
	if _, err := x.Intake.Records.Put(t.Context(), "run/5/7/net@default", []byte("of ghes"), ""); err != nil {
		t.Fatal(err)
	}
	if rec, err := w.Intake.Records.Get(t.Context(), "run/5/7/net@default"); err != nil || rec.Version != "" {
		t.Errorf("the first App has the record %s of another, %v", rec.Value, err)
	}
	a := pipeline.Artifact{Key: "5/7/net@default/1/plan", Repo: "acme/infra", Number: 7}
	if err := x.Artifacts.Put(t.Context(), a, []byte("of ghes")); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Artifacts.Get(t.Context(), a); err == nil {
		t.Errorf("the first App has the artifact %s of another", got)
	}
	if err := x.Intake.Queue.Send(t.Context(), pipeline.Message{}); err != nil || sent[0].Pull.App != "ghes" {
		t.Errorf("%+v, %v", sent, err)
	}
	if _, err := w.For(t.Context(), "none"); !errors.As(err, new(*UnknownAppError)) || !strings.Contains(err.Error(), `the App "none" is no longer in the parameter Apps`) {
		t.Errorf("%v", err)
	}
	if _, err := w.For(t.Context(), "lost"); err == nil || !strings.Contains(err.Error(), `the App "lost": read the secret lockstep/apps/lost/github-app-key`) {
		t.Errorf("%v", err)
	}
	if got := strings.Join(asked, " "); got != "lockstep/apps/ghes/github-app-key lockstep/apps/lost/github-app-key" {
		t.Errorf("read %s", got)
	}
}
