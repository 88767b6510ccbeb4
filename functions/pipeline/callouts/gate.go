package callouts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A request is what Lockstep sends to a gate. cmd/docs/reference/requests.md is generated from these fields. No
// field is ever removed.
type request struct {
	// Type is always "gate".
	Type string `json:"type"`
	// Timestamp is when Lockstep made the request, in RFC 3339.
	Timestamp time.Time `json:"timestamp"`
	Data      gateData  `json:"data"`
}

type gateData struct {
	// Gate is the label of the gate block.
	Gate string `json:"gate"`
	// Repository is OWNER/NAME.
	Repository string `json:"repository"`
	// PullRequest is the number of the pull request.
	PullRequest int `json:"pull_request"`
	// SHA is the full ID of the commit that is planned or applied.
	SHA string `json:"sha"`
	// Actor is the login of the person who asked for the plan or the apply, and empty for a push.
	Actor string `json:"actor"`
	// Project is the name of the project.
	Project string `json:"project"`
	// Dir is the project's directory, as a path from the root of the repository.
	Dir string `json:"dir"`
	// Workspace is the project's workspace.
	Workspace string `json:"workspace"`
	// Environment is the label of the project's environment block, and empty without one.
	Environment string `json:"environment"`
	// Plan is the plan in Terraform's JSON format, without sensitive values: see
	// https://developer.hashicorp.com/terraform/internals/json-format#plan-representation.
	Plan json.RawMessage `json:"plan"`
}

// A verdict is the answer of a gate.
type verdict struct {
	// Verdict is "allow" or "deny". A hook may leave it out, which allows.
	Verdict string `json:"verdict"`
	// Messages are the reasons of a denial, or remarks. Lockstep shows the first 20, and 1,000 bytes of each.
	Messages []string `json:"messages"`
	// Warnings are remarks that Lockstep shows with the plan.
	Warnings []string `json:"warnings"`
}

// Limits of an answer: the number of messages, and the length of each message in bytes.
const (
	maxMessages = 20
	maxMessage  = 1000
)

// Judge asks a gate about the plan of a job. plan is JSON without sensitive values. If the gate gives no
// verdict, the judgement says why. The error is nil unless ctx has ended.
func (c *Caller) Judge(ctx context.Context, j jobs.Job, g requirements.Gate, plan []byte) (runs.Judgement, error) {
	out := runs.Judgement{Name: g.Name, ID: g.ID()}
	body, err := json.Marshal(request{"gate", time.Now().UTC().Truncate(time.Second), gateData{
		Gate: g.Name, Repository: j.Repository(), PullRequest: j.Number, SHA: j.Head, Actor: j.Actor,
		Project: j.Project, Dir: j.Dir, Workspace: j.Workspace, Environment: j.Environment.Name(), Plan: plan,
	}})
	if err != nil {
		return out, fmt.Errorf("describe the plan for the gate %s: %w", g.Name, err)
	}
	var v verdict
	answer, err := c.call(ctx, g.Endpoint, identity(body), time.Now(), body)
	if err == nil {
		v, err = parse(answer)
	}
	if ctx.Err() != nil {
		return out, fmt.Errorf("ask the gate %s: %w", g.Name, context.Cause(ctx))
	}
	if err != nil {
		out.Mistakes = []string{c.message(err.Error())}
		return out, nil
	}
	messages, more := c.messages(v.Messages)
	out.Warned, out.MoreWarned = c.messages(v.Warnings)
	if v.Verdict == "deny" {
		if out.Denied, out.MoreDenied = messages, more; len(messages) == 0 {
			out.Denied = []string{"it gave no reason"}
		}
		return out, nil
	}
	// If the gate allows the plan, its messages are shown in the same way as warnings.
	out.Warned, out.MoreWarned = append(out.Warned, messages...), out.MoreWarned+more
	return out, nil
}

// identity returns the ID of a request. A receiver recognizes a repeated request by this ID.
func identity(body []byte) string {
	sum := sha256.Sum256(body)
	return "msg_" + hex.EncodeToString(sum[:16])
}

// parse parses the answer of a gate. An answer that Lockstep does not understand is an error, and so never
// allows a plan.
func parse(answer []byte) (v verdict, err error) {
	if !decode(answer, &v) {
		return verdict{}, errors.New(`its answer is no JSON object with verdict, "allow" or "deny", and texts in messages and warnings`)
	}
	if v.Verdict != "allow" && v.Verdict != "deny" {
		return verdict{}, fmt.Errorf("its verdict is %q, and neither \"allow\" nor \"deny\"", clip(v.Verdict, 40))
	}
	return v, nil
}

// decode parses an answer. It returns false if the answer is not exactly one JSON value. It also returns false
// if a name occurs twice, or with other letter case ("Verdict"): the library would use the last of such names,
// but another reader could use another one.
func decode(answer []byte, into *verdict) bool {
	dec := json.NewDecoder(bytes.NewReader(answer))
	if dec.Decode(into) != nil || dec.Decode(new(json.RawMessage)) != io.EOF {
		return false
	}
	dec = json.NewDecoder(bytes.NewReader(answer))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return err == nil // null
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		name, is := t.(string)
		if err != nil || !is || seen[strings.ToLower(name)] || misspelt(name) || dec.Decode(new(json.RawMessage)) != nil {
			return false
		}
		seen[strings.ToLower(name)] = true
	}
	return true
}

// misspelt reports whether a name in an answer differs only by letter case from a name that Lockstep reads.
func misspelt(name string) bool {
	for _, ours := range []string{"verdict", "messages", "warnings"} {
		if name != ours && strings.EqualFold(name, ours) {
			return true
		}
	}
	return false
}

// messages returns the messages to show, each shortened to the maximum length, and how many are left out.
func (c *Caller) messages(all []string) (out []string, more int) {
	for _, m := range all[:min(len(all), maxMessages)] {
		out = append(out, c.message(m))
	}
	return out, max(len(all)-maxMessages, 0)
}

func (c *Caller) message(text string) string {
	return clip(strings.Join(strings.Fields(c.hide(strings.ToValidUTF8(text, "�"))), " "), maxMessage)
}

// clip shortens a text to at most limit bytes.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
