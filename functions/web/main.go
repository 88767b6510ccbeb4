// Web is the Lambda function of the page: repositories, pull requests, plans, states and audit records in a browser.
// It reads records, artifacts and audit records, and writes nothing. Package signin decides who sees what.
package main

import (
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/cmd/docs"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/page/signin"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/pagedata"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

func main() {
	w, err := wiring.Open(wiring.Web)
	if err != nil {
		wiring.Fail(wiring.Web, err)
	}
	h, err := handler(w)
	if err != nil {
		wiring.Fail(wiring.Web, err)
	}
	lambda.Start(adapter{handler: h.Server(), log: h.Log}.answer)
}

// handler returns the handler of all pages.
func handler(w *wiring.World) (page.Handler, error) {
	log := func(err error) { w.Log.Error("page", "error", err.Error()) }
	secret, err := signin.ReadSecret(w.PageSecrets)
	var door *signin.Door
	if err == nil {
		door, err = newDoor(w, secret, log)
	}
	if err != nil {
		return page.Handler{}, fmt.Errorf("the secret %s: %w", w.PageSecret, err)
	}
	site := pagedata.Site{
		Records: pagedata.Recent(w.Intake.Records), Artifacts: w.Artifacts, Chains: awsstore.Chains{Client: s3.NewFromConfig(w.AWS), Bucket: w.Audit},
		Web: github.WebURL(w.GitHubURL), Access: door, Secrets: []github.Secret{secret.Key, secret.ClientSecret},
	}
	if w.PageURL != "" {
		site.Where = func(a pipeline.Artifact) string { return w.PageURL + runs.PagePath(a) }
	}
	return page.Handler{Site: site, Door: door, Manual: docs.Read(), Log: log}, nil
}

// newDoor returns the door that decides who sees what.
func newDoor(w *wiring.World, secret signin.Secret, log func(error)) (*signin.Door, error) {
	c := signin.Config{
		Key: secret.Key, Address: w.PageURL, Known: w.Intake.KnownID, Log: log,
		Serves: func(r github.Repo) bool { return w.Serves.Decide(r, intake.Known{}).Allowed() },
	}
	if !secret.ClientID.IsEmpty() {
		var err error
		c.GitHub, err = github.NewSignIn(github.SignInConfig{ClientID: secret.ClientID, ClientSecret: secret.ClientSecret, URL: w.GitHubURL})
		if err != nil {
			return nil, err
		}
	}
	return signin.New(c)
}
