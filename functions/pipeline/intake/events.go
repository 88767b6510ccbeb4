package intake

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// events are GitHub's names of the events whose webhooks may become messages. Source:
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
var events = []string{"pull_request", "issue_comment", "merge_group", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "check_run", "check_suite", "status"}

// CanBecomeMessage reports whether webhooks about this event may become messages. If such a webhook is lost,
// the janitor makes GitHub send it once more.
func CanBecomeMessage(event string) bool { return slices.Contains(events, event) }

// messages returns the messages for a webhook. A comment without commands has none. A webhook that has no
// command, but may change a decision about requirements, becomes a [pipeline.Told]. The pull request is read
// only once for all such webhooks within a short time, because in a public repository everybody can review and
// edit comments as often as they like.
func messages(d github.Delivery) []pipeline.Message {
	m := pipeline.Message{ID: d.Digest[:messageDigits]}
	switch e := d.Event.(type) {
	case github.PullRequestEvent:
		m.Pull, m.Action, m.Merged = pullOf(e.Subject), e.Action, e.Merged
		switch {
		case e.Action == "opened", e.Action == "synchronize":
			m.Kind, m.Push, m.At = pipeline.Pushed, &github.Push{By: e.Sender, Before: e.Before, After: e.Head}, e.At
		case e.Action == "reopened", e.BaseChanged:
			m.Kind = pipeline.Pushed
		case e.Action == "closed":
			m.Kind, m.Actor = pipeline.Closed, e.Sender
		default:
			return nil
		}
	case github.CommentEvent:
		m.Kind, m.Pull, m.Comment, m.Actor, m.Lines = pipeline.Commanded, pullOf(e.Subject), e.Comment, e.Sender, CommandsIn(e.Body, e.Bot)
		m.At, m.Written.Line = e.At, e.Line
		if len(m.Lines) == 0 || e.Issue { // for one on an issue, see [Intake.onIssue]
			return nil
		}
	case github.CommentGoneEvent:
		if !overrides(e.Body) {
			return nil
		}
		m.Kind, m.Pull, m.At = pipeline.Told, pullOf(e.Subject), time.Now().UTC()
	case github.GroupEvent:
		m.Kind, m.Pull, m.MergeGroup = pipeline.Grouped, pullOf(e.Subject), e.SHA
		if !e.Gone {
			m.Action = pipeline.Requested
		}
	case github.ReviewEvent:
		return reviewed(m, e)
	case github.RerunEvent:
		return reruns(m.ID, e)
	case github.ButtonEvent:
		return buttonPressed(m, e)
	default:
		return nil
	}
	return []pipeline.Message{m}
}

// CommandsIn returns the commands in the text of a comment. bot is set if an App has written it. Apps also
// write about Lockstep to people. So in a text of an App, a line with a mistake is no command, and commands
// count only if the base branch names the App. A text that Lockstep itself has written contains no commands.
func CommandsIn(body string, bot bool) []grammar.Line {
	all := grammar.Parse(body)
	if !bot {
		return all
	}
	if comment.Ours(body) {
		return nil
	}
	return slices.DeleteFunc(all, func(l grammar.Line) bool { return !l.Problem.IsZero() })
}

// overrides reports whether a text may have overridden a requirement. The override ends if the text is edited
// or deleted.
func overrides(body string) bool {
	return !comment.Ours(body) && slices.ContainsFunc(grammar.Parse(body), func(l grammar.Line) bool { return l.Command.Verb == comment.Override })
}

// reviewed returns the messages for a review: it may be an approval that counts, and its text may contain
// commands.
func reviewed(m pipeline.Message, e github.ReviewEvent) []pipeline.Message {
	told, said := m, m
	told.Kind, told.Pull, told.At = pipeline.Told, pullOf(e.Subject), time.Now().UTC()
	said.ID += "-text"
	said.Kind, said.Pull, said.Actor, said.Lines, said.At = pipeline.Commanded, told.Pull, e.Sender, CommandsIn(e.Body, e.Bot), e.Review.At
	said.Written.Review = e.ID
	if len(said.Lines) == 0 {
		return []pipeline.Message{told}
	}
	return []pipeline.Message{told, said}
}

// buttonPressed returns the message for a button of Lockstep that was pressed: its command, for the pull
// request and the project of the check run. Other pull requests with the same commit have their own check runs.
func buttonPressed(m pipeline.Message, e github.ButtonEvent) []pipeline.Message {
	c, known := comment.ReadButton(e.Identifier)
	number, name := ofProject(e.Name, e.ExternalID)
	if pull, shared := pipeline.ReadSharedCheck(e.Name, e.ExternalID); pull > 0 && c.Verb == comment.Plan {
		number, name, m.Shared = pull, "", shared
	}
	if !known || number == 0 {
		return nil
	}
	c.Project, c.Workspace, _ = strings.Cut(name, "@")
	m.Kind, m.Pull, m.Actor, m.Head = pipeline.Commanded, pipeline.Pull{Installation: e.Installation, Repo: e.Repo, Number: number}, e.Sender, e.SHA
	m.Lines = []grammar.Line{{Text: c.String(), Command: c}}
	return []pipeline.Message{m}
}

// ofProject returns the pull request and the project of a check run; number is 0 if it is not a check run of a
// project. The pull request comes from the external ID, which only the App can write. GitHub's own list is
// incomplete: it lacks pull requests from forks, and those whose head has changed.
func ofProject(check, externalID string) (number int, project string) {
	if pipeline.IsSharedCheck(check) {
		return 0, ""
	}
	_, project, ours := pipeline.ReadCheck(check)
	if tested, is := pipeline.ReadTestCheck(check); is {
		project, ours = tested, true
	}
	text, target, _ := strings.Cut(externalID, "/")
	number, err := strconv.Atoi(text)
	if !ours || project == "" || target == "" || err != nil || number <= 0 {
		return 0, ""
	}
	return number, project
}

// reruns returns the messages for the button "Re-run" of a check run: commands with the same effect. GitHub's
// list of pull requests lacks those from forks. If the list is empty, the handler of the message searches
// Lockstep's records.
func reruns(id string, e github.RerunEvent) []pipeline.Message {
	c, pulls := comment.Command{Verb: comment.Plan}, e.Pulls
	if number, name := ofProject(e.Name, e.ExternalID); number > 0 {
		c.Project, c.Workspace, _ = strings.Cut(name, "@")
		pulls = []int{number}
	}
	pull, shared := pipeline.ReadSharedCheck(e.Name, e.ExternalID)
	if pull > 0 {
		pulls = []int{pull}
	}
	m := pipeline.Message{
		ID: id, Kind: pipeline.Rerun, Shared: shared, Pull: pipeline.Pull{Installation: e.Installation, Repo: e.Repo},
		Actor: e.Sender, Lines: []grammar.Line{{Text: c.String(), Command: c}}, Head: e.SHA,
	}
	if len(pulls) == 0 {
		return []pipeline.Message{m}
	}
	var out []pipeline.Message
	for _, n := range pulls {
		out = append(out, m.ForPull(n))
	}
	return out
}

func pullOf(s github.Subject) pipeline.Pull {
	return pipeline.Pull{Installation: s.Installation, Repo: s.Repo, Number: s.Number}
}

// messageDigits is how many digits of a body's digest are part of the IDs of messages. They are enough to
// distinguish bodies, and few enough for the longer IDs that are made from these.
const messageDigits = 32
