package demo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var unlock = Story{
	Name:        "unlock",
	lockObjects: true,
	Shows:       "A dead process leaves a state locked. `lockstep unlock` releases it.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets, "3 to add"),
		{title: "she applies it, and the machine that does it loses its power", do: func(ctx context.Context, w *World) error {
			w.plug.Store(true)
			w.repo.Comment("alice", 1, "lockstep apply")
			return nil
		}, want: []string{"lost its power"}},
		commented("alice tries again", "alice", 1, "lockstep apply", "**Failed to apply** `network`", "lockstep unlock -p network"),
		commented("she releases the lock", "alice", 1, "lockstep unlock", "**Unlocked** `network`"),
		commented("looks at a new plan", "alice", 1, "lockstep plan", "3 to add"),
		commented("and applies", "alice", 1, "lockstep apply", "**Applied** `network`: 3 added"),
	},
}

var partialFailure = Story{
	Name:  "partial-failure",
	Shows: "An apply that fails halfway keeps its changes, and can be completed after a push.",
	scenes: []scene{
		opened("alice adds a host with a wrong address, and its name", "alice", "hosts", "A host", githubtest.Files{"network/hosts.tf": hostsFile("10.21.0.9")}, "3 to add"),
		commented("she applies it", "alice", 1, "lockstep apply",
			"**Failed to apply** `network`: 2 added, 0 changed, 0 destroyed", "The host is not in our range."),
		{title: "she corrects it, and Lockstep plans again: the changes made stay", want: []string{"2 to add, 0 to change, 1 to destroy"},
			do: by(func(r *githubtest.Repository) {
				r.Push("alice", "hosts", "A host in our range", githubtest.Files{"network/hosts.tf": hostsFile("10.20.0.9")})
			})},
		commented("now it can be applied", "alice", 1, "lockstep apply", "**Applied** `network`"),
	},
}

// hostsFile returns a configuration with a host whose address is checked only after the host exists.
func hostsFile(address string) string {
	return `resource "terraform_data" "host" {
  input            = "` + address + `"
  triggers_replace = "` + address + `"

  lifecycle {
    postcondition {
      condition     = startswith(self.output, "10.20.")
      error_message = "The host is not in our range."
    }
  }
}

resource "terraform_data" "name" {
  input = { name = "host.acme.example", address = terraform_data.host.output }
}
`
}

var replay = Story{
	Name:  "replay",
	Shows: "Each webhook counts once, and only with the right signature.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets, "3 to add"),
		{title: "somebody sends its webhook again, unchanged", do: redeliver, never: []string{"to add"}},
		{title: "and another one with a signature of their own", do: forge, never: []string{"to add"}},
	},
}

// redeliver sends the very first webhook again.
func redeliver(ctx context.Context, w *World) error {
	answer, err := w.hub.Redeliver(ctx, w.hub.Deliveries()[0])
	if err != nil {
		return err
	}
	w.narrate("the webhook answers: %s", strings.TrimSpace(answer))
	if !strings.Contains(answer, "received before") {
		return errors.New("a delivery was taken twice")
	}
	return nil
}

// forge sends a webhook that is signed with a wrong secret.
func forge(ctx context.Context, w *World) error {
	body := `{"action":"opened"}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.webhook, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set(github.EventHeader, "pull_request")
	req.Header.Set(github.DeliveryHeader, "00000000-0000-4000-8000-00000000face")
	req.Header.Set(github.SignatureHeader, github.Sign(github.NewSecret("a guess"), []byte(body)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return err
	}
	w.narrate("the webhook answers: %s %s", res.Status, strings.TrimSpace(string(text)))
	if res.StatusCode != http.StatusUnauthorized {
		return errors.New("a forged delivery was taken")
	}
	return nil
}
