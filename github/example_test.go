package github_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// An App receives a webhook, and answers the pull request with a comment. Package githubtest is the GitHub here: with the App's
// own ID, key and secret, the same code speaks to the real one.
func Example() {
	ctx := context.Background()
	secret := github.NewSecret("hush")
	hub := githubtest.New(githubtest.Options{Secret: secret})
	api := httptest.NewServer(hub)
	defer api.Close()
	app, err := github.NewApp(hub.App(api.URL))
	if err != nil {
		log.Fatal(err)
	}

	webhooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := github.ReadPayload(r.Body)
		if err != nil {
			log.Fatal(err)
		}
		delivery, err := github.ReadDelivery(r.Header, body, secret) // checks the signature
		if err != nil {
			http.Error(w, "forged", http.StatusUnauthorized)
			return
		}
		event, ok := delivery.Event.(github.PullRequestEvent)
		if !ok || event.Action != "opened" {
			return
		}
		client, err := app.Repository(event.Installation, event.Repo) // its tokens open this repository only
		if err != nil {
			log.Fatal(err)
		}
		pull, err := client.PullRequest(ctx, event.Number)
		if err != nil {
			log.Fatal(err)
		}
		// A second call edits the same comment: the marker finds it.
		for _, text := range []string{"Looking.", "Welcome: " + pull.Title} {
			if _, _, err := client.PutComment(ctx, event.Number, github.Earlier{}, "<!-- example -->", "<!-- example -->\n"+text); err != nil {
				log.Fatal(err)
			}
		}
	}))
	defer webhooks.Close()
	hub.SetWebhook(webhooks.URL)

	repo := hub.AddRepository("acme", "infra", githubtest.Files{"main.tf": ""})
	repo.Grant("alice", "write")
	repo.Push("alice", "subnets", "Two subnets", githubtest.Files{"subnets.tf": ""})
	repo.OpenPull("alice", "Two subnets", "subnets")
	if _, err := hub.Deliver(ctx); err != nil {
		log.Fatal(err)
	}
	for _, line := range hub.Lines() {
		fmt.Println(line)
	}

	// Output:
	// push by alice: subnets: Two subnets
	// pull request #1 by alice: Two subnets
	// comment #1 on #1 by lockstep[bot]: Looking.
	// edit #1 on #1 by lockstep[bot]: Welcome: Two subnets
}
