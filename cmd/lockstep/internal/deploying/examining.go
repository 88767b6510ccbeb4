package deploying

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A finding is a problem of a deployment, with its remedy.
type finding struct{ Problem, Remedy string }

// deploymentFacts are the facts about a deployment, from which [examine] finds problems. Unknown lists the
// facts that could not be found, with reasons.
type deploymentFacts struct {
	Stack, Region string
	Status        string // of the stack; "" if it does not exist
	Unknown       []unknownFact
	Apps          []examinedApp // those for which GitHub has answered
	Queues        []examinedQueue
	Functions     []examinedFunction
	Bucket        *examinedBucket
	Roles         []examinedRole
	PageSecret    *examinedSecret
	Skew          map[string]time.Duration // by owner of the other clock; positive if that clock is ahead
}

// An unknownFact is a fact that the examination could not find out. Reason says why.
type unknownFact struct{ Fact, Reason string }

// An examinedApp has the facts about one of the deployment's Apps, as GitHub describes it.
type examinedApp struct {
	Name                string // that the operator has given it; "" for the first one
	Slug, Page          string
	HookURL, Address    string // where GitHub sends webhooks, and where the stack receives them
	Permissions, Needed map[string]string
	Events, Wanted      []string
	Installed           []string // accounts
	Suspended           []string
	Failed, Delivered   int // numbers of recent deliveries
	LastFailure         string
}

// An examinedQueue has the facts about a queue of the stack.
type examinedQueue struct {
	Name     string
	Messages string // a number
	Dead     bool   // it is for dead letters
	TLSOnly  bool
	Redrives bool
}

// An examinedFunction has the facts about a Lambda function of the stack.
type examinedFunction struct {
	Name   string
	Digest string // SHA-256 of its code, base64
	Own    string // SHA-256 of the same function's code in this program; "" if this program contains none
}

// An examinedBucket has the facts about the bucket for plans and other artifacts.
type examinedBucket struct {
	Name              string
	Versioned, Closed bool
	KMS               bool
}

// An examinedRole has the facts about a role that plans or applies assume.
type examinedRole struct {
	ARN, Use string
	Problem  string // why it cannot be assumed, as far as this account's policies say; "" if it can
}

// An examinedSecret has the facts about the secret of the page. Problem says why the page does not start with it; nil if it does.
type examinedSecret struct {
	ARN     string
	Problem error
}

// maxSkew is the largest clock difference that `deploy doctor` does not report. AWS refuses signatures whose
// time differs by five minutes; GitHub accepts times up to one minute in the future.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
const maxSkew = 45 * time.Second

// examine returns all problems that follow from the facts, the most severe first.
func examine(f deploymentFacts) []finding {
	if f.Status == "" && len(f.Unknown) == 0 {
		return []finding{{fmt.Sprintf("the stack %s does not exist in %s", f.Stack, f.Region), "name another stack with -stack and -region, or run `lockstep deploy` to create this one"}}
	}
	var out []finding
	for _, u := range f.Unknown {
		out = append(out, finding{fmt.Sprintf("%s cannot be examined: %s", u.Fact, u.Reason), "give yourself the permission, or wait until the service answers; then run again"})
	}
	out = append(out, stackFindings(f)...)
	for _, a := range f.Apps {
		out = append(out, appFindings(a, f.Stack, f.Region)...)
	}
	out = append(out, queueFindings(f)...)
	out = append(out, functionFindings(f)...)
	out = append(out, bucketFindings(f)...)
	for _, r := range f.Roles {
		if r.Problem != "" {
			out = append(out, finding{fmt.Sprintf("the role of %s, %s, cannot be assumed: %s", r.Use, r.ARN, r.Problem), "let the role's trust policy name the stack's output PlanRoleArn or ApplyRoleArn. See `lockstep docs start/more-accounts`"})
		}
	}
	if p := f.PageSecret; p != nil && p.Problem != nil {
		out = append(out, finding{fmt.Sprintf("the page does not start, because its secret %s is wrong: %s", p.ARN, p.Problem), "write the secret again: see `lockstep docs operate/page`"})
	}
	for _, who := range slices.Sorted(maps.Keys(f.Skew)) {
		if d := f.Skew[who].Round(time.Second); d.Abs() > maxSkew {
			out = append(out, finding{fmt.Sprintf("the clock of this machine differs by %s from the clock of %s", d.Abs(), who), "set the clock: with a wrong one, AWS and GitHub refuse signed requests"})
		}
	}
	return out
}

func stackFindings(f deploymentFacts) []finding {
	switch {
	case f.Status == "" || strings.HasSuffix(f.Status, "_COMPLETE") && f.Status != "ROLLBACK_COMPLETE":
		return nil
	case strings.HasSuffix(f.Status, "_IN_PROGRESS"):
		return []finding{{"the stack is " + f.Status, "wait until the change has finished, then run again"}}
	}
	return []finding{{"the stack is " + f.Status, "run `lockstep deploy`: it shows how to continue"}}
}

// String returns the name of the App in findings.
func (a examinedApp) String() string {
	if a.Name == "" {
		return "the App"
	}
	return "the App " + a.Name
}

func appFindings(a examinedApp, stack, region string) []finding {
	var out []finding
	who, again := a.String(), "`lockstep deploy`"
	if a.Name != "" {
		again = "`lockstep deploy -app " + a.Name + "`"
	}
	settings := "in the App's settings on GitHub, "
	if a.HookURL != a.Address {
		out = append(out, finding{fmt.Sprintf("the webhook address of %s is %q, but should be %q", who, a.HookURL, a.Address), "run " + again + " to set the address"})
	}
	missing, needless := a.unfitPermissions()
	if missing != nil {
		out = append(out, finding{who + " lacks the permissions " + strings.Join(missing, ", "), settings + "add them under Permissions; then let the owner of each account accept them"})
	}
	if needless != nil {
		out = append(out, finding{who + " has permissions that it does not need: " + strings.Join(needless, ", "), settings + "remove them under Permissions"})
	}
	events := slices.DeleteFunc(slices.Clone(a.Wanted), func(e string) bool { return slices.Contains(a.Events, e) })
	if len(events) > 0 {
		out = append(out, finding{who + " does not receive the events " + strings.Join(events, ", "), settings + "subscribe to them under Permissions & events"})
	}
	if len(a.Installed) == 0 {
		out = append(out, finding{who + " is not installed on any account", "install it: " + a.Page + "/installations/new"})
	}
	for _, account := range a.Suspended {
		out = append(out, finding{who + " is suspended in " + account, "ask an owner of " + account + " to unsuspend it in the settings of installed Apps"})
	}
	if a.Failed > 0 {
		out = append(out, finding{fmt.Sprintf("%d of the last %d webhooks of %s did not arrive. GitHub received the answer %q", a.Failed, a.Failed+a.Delivered, who, a.LastFailure),
			fmt.Sprintf("run `aws logs tail --region %s /aws/lambda/%s-webhook` for the reason. Lockstep finds the missed pull requests and comments by itself", region, stack)})
	}
	return out
}

// unfitPermissions compares the App's permissions with the permissions that it needs. missing lists needed
// permissions that the App lacks, as "name: access". needless lists permissions that it does not need.
func (a examinedApp) unfitPermissions() (missing, needless []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Needed)) {
		if have := a.Permissions[name]; have != a.Needed[name] && have != "write" && have != "admin" {
			missing = append(missing, name+": "+a.Needed[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Permissions)) {
		if need := a.Needed[name]; need == "" || need == "read" && a.Permissions[name] != "read" {
			needless = append(needless, name+": "+a.Permissions[name])
		}
	}
	return missing, needless
}

func queueFindings(f deploymentFacts) []finding {
	var out []finding
	for _, q := range f.Queues {
		if q.Dead && q.Messages != "0" {
			out = append(out, finding{fmt.Sprintf("the queue %s has %s dead letters", q.Name, q.Messages),
				fmt.Sprintf("wait 10 minutes: the janitor handles them. If they stay, run `aws logs tail --region %s /aws/lambda/%s-janitor` for the reason", f.Region, f.Stack)})
		}
		if !q.Dead && !q.Redrives {
			out = append(out, finding{"the queue " + q.Name + " has no queue for dead letters, so messages that fail are lost", "run `aws cloudformation detect-stack-drift`, then `lockstep deploy`: it restores the template's setting"})
		}
		if !q.TLSOnly {
			out = append(out, finding{"the policy of the queue " + q.Name + " does not require TLS", "somebody has changed the policy: restore the one in template.yaml"})
		}
	}
	return out
}

func functionFindings(f deploymentFacts) []finding {
	var out []finding
	for _, x := range f.Functions {
		if x.Own != "" && x.Digest != x.Own {
			out = append(out, finding{"the function " + x.Name + " does not run the code of this version", "run `lockstep deploy` to update it. If you have already deployed this version, somebody else has replaced the code"})
		}
	}
	return out
}

func bucketFindings(f deploymentFacts) []finding {
	b := f.Bucket
	if b == nil {
		return nil
	}
	var out []finding
	for _, x := range []struct {
		good bool
		text string
	}{
		{b.Versioned, "does not keep versions"}, {b.KMS, "is not encrypted with a KMS key"}, {b.Closed, "does not block public access"},
	} {
		if !x.good {
			out = append(out, finding{"the bucket of plans, " + b.Name + ", " + x.text, "somebody has changed the bucket: restore the setting in template.yaml"})
		}
	}
	return out
}
