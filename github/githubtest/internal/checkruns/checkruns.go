// Package checkruns reads the requests that create and change check runs.
package checkruns

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A Request creates or changes a check run; absent members keep their value.
type Request struct {
	Name       *string
	HeadSHA    string  `json:"head_sha"`
	ExternalID *string `json:"external_id"`
	DetailsURL *string `json:"details_url"`
	Status     github.CheckStatus
	Conclusion github.Conclusion
	Output     *struct {
		Title, Summary string
		Text           *string
	}
	Actions *[]github.CheckButton
}

// Invalid is GitHub's answer to a request that it refuses.
func Invalid(format string, args ...any) *rest.Problem {
	return rest.Invalid("Invalid request.\n\n"+format, args...)
}

// Read reads a request, within GitHub's limits.
//
// Source: https://docs.github.com/en/rest/checks/runs
func (in *Request) Read(r *http.Request) *rest.Problem {
	if err := json.NewDecoder(r.Body).Decode(in); err != nil {
		return &rest.Problem{Status: http.StatusBadRequest, Message: "Problems parsing JSON"}
	}
	if in.Conclusion != "" && in.Status == "" {
		in.Status = github.CheckCompleted
	}
	if in.Actions != nil {
		if len(*in.Actions) > 3 {
			return Invalid("Only 3 actions are allowed; %d were supplied.", len(*in.Actions))
		}
		for _, b := range *in.Actions {
			if b.Label == "" || len(b.Label) > 20 || b.Description == "" || len(b.Description) > 40 || b.Identifier == "" || len(b.Identifier) > 20 {
				return Invalid("The action %q is too long, or has no text.", b.Label)
			}
		}
	}
	switch {
	case in.DetailsURL != nil && !strings.HasPrefix(*in.DetailsURL, "http://") && !strings.HasPrefix(*in.DetailsURL, "https://"):
		return rest.Invalid("Validation Failed: details_url must use the http or https scheme")
	case in.Status == github.CheckCompleted && in.Conclusion == "":
		return Invalid(`"conclusion" is required when "status" is "completed".`)
	case in.Output == nil:
		return nil
	case in.Output.Title == "" || in.Output.Summary == "":
		return Invalid(`"title" and "summary" weren't supplied.`)
	}
	const most = 65535
	texts := []string{in.Output.Summary}
	if in.Output.Text != nil {
		texts = append(texts, *in.Output.Text)
	}
	for _, s := range texts {
		if n := utf8.RuneCountInString(s); n > most {
			return Invalid("Only %d characters are allowed; %d were supplied.", most, n)
		}
	}
	if n := len(in.Output.Summary); n > most {
		return Invalid("Summary exceeds a maximum bytesize of %d", most)
	}
	if in.Output.Text != nil && len(*in.Output.Text) > most { // GitHub cuts it silently
		*in.Output.Text = (*in.Output.Text)[:most]
	}
	return nil
}

// Into changes a check run, and its text, nil for null.
func (in *Request) Into(s *github.Check, text **string) {
	for to, from := range map[*string]*string{&s.Name: in.Name, &s.ExternalID: in.ExternalID, &s.URL: in.DetailsURL} {
		if from != nil {
			*to = *from
		}
	}
	if in.Status != "" {
		s.Status, s.Conclusion = in.Status, in.Conclusion
	}
	if in.Actions != nil {
		s.Buttons = slices.Concat(*in.Actions) // nil without any
	}
	if in.Output != nil {
		s.Title, s.Summary, s.Text, *text = in.Output.Title, in.Output.Summary, "", in.Output.Text
		if *text != nil {
			s.Text = **text
		}
	}
}
