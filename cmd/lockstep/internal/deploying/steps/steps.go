// Package steps decides about the steps of a deployment: the wish and the facts go
// in, the list of all steps comes out, each with its state. The same decision serves the first
// run, one that goes on after an interruption, an update, and `-plan`.
//
// It refuses to know how a step is done and how anything was found. Start at [List].
package steps

import (
	"fmt"
	"strings"
)

// A Wish is the deployment that was asked for.
type Wish struct {
	Stack, Region string
	// App is the name of an App beside the stack's first one, "" for that.
	App               string
	KeyName, HookName string // of secrets
	Bucket            string // for the code
	GitHub            string // the address of its pages: https://github.com/
	Owner             string // the organization that is to own the App; "" for one's own account
	// GivenApp is set if the App and its secrets were made by other means.
	GivenApp bool
	// KeyAtHand is set if a private key of the App was given.
	KeyAtHand bool
	Code      int // files to upload
}

// Found are the facts.
type Found struct {
	Key, Hook Secret
	App       App
	Bucket    Bucket
	Missing   []string // files that are not uploaded, or have other content
	Stack     Stack
	Changes   []string // differences between the stack and the wish
	HookURL   string   // where GitHub sends webhooks
	Delivery  Delivery
}

// A Secret is one in Secrets Manager.
type Secret struct {
	There, Filled bool
	Deleted       bool // it is to be deleted soon, and cannot be used
}

// An App is the one that the key's secret names.
type App struct {
	ID   int64
	Slug string
	Page string
}

// A Bucket is that for the code.
type Bucket struct {
	There     bool
	Foreign   bool   // it is another account's, or nobody may see it
	Elsewhere string // its region, if that is another one
	Versioned bool
	Closed    bool // to the public
}

// A Stack is that of the template.
type Stack struct {
	Status  string // CloudFormation's word; "": there is none
	Reason  string
	HookURL string // its output
}

// A Delivery is the fate of the last webhook to the present address.
type Delivery int

const (
	NoDelivery      Delivery = iota // none was tried
	FailedDelivery                  // the answer was no 2xx
	ArrivedDelivery                 // the answer was a 2xx
	NothingToSend                   // GitHub has no webhook that it could send again
)

// A State is that of a step.
type State string

const (
	Done    State = "done"
	Todo    State = "to do"
	Later   State = "later" // it is clear only after an earlier step
	Blocked State = "blocked"
)

// The names of steps, in their order.
const (
	Secrets  = "secrets"
	Register = "app"
	Key      = "key"
	Depot    = "bucket"
	Upload   = "code"
	Deploy   = "stack"
	Hook     = "webhook"
	Check    = "delivery"
)

// A Step is one, with its state.
type Step struct {
	Name   string
	State  State
	Text   string // the present facts, or the deed
	Remedy string // of a blocked one
}

// List returns all steps.
func List(w Wish, f Found) []Step {
	list := []Step{
		secrets(w, f), register(w, f), key(w, f), depot(w, f), upload(w, f), deploy(w, f), hook(w, f), check(f),
	}
	waits := false
	for i, s := range list {
		if waits && s.State == Todo && dependent(s.Name) {
			list[i].State = Later
		}
		waits = waits || s.State != Done
	}
	return list
}

// dependent reports whether a step needs all those before it.
func dependent(name string) bool {
	return name == Key || name == Deploy || name == Hook || name == Check
}

// Next returns the first step that is not done; ok is false if there is none.
func Next(list []Step) (next Step, ok bool) {
	for _, s := range list {
		if s.State != Done {
			return s, true
		}
	}
	return Step{}, false
}

func secrets(w Wish, f Found) Step {
	s := Step{Name: Secrets, State: Todo, Text: fmt.Sprintf("make the secrets %s and %s", w.KeyName, w.HookName)}
	switch {
	case w.App != "" && f.Stack.HookURL == "":
		s.State, s.Text = Blocked, fmt.Sprintf("there is no stack %s in %s that the App %s could be added to", w.Stack, w.Region, w.App)
		s.Remedy = "`lockstep deploy` without -app makes it, with its first App; -stack and -region name another"
	case w.GivenApp:
		s.State, s.Text = Done, "those that the parameters name"
	case f.Key.Deleted || f.Hook.Deleted:
		name := w.KeyName
		if f.Hook.Deleted {
			name = w.HookName
		}
		s.State, s.Text = Blocked, name+" is about to be deleted"
		s.Remedy = fmt.Sprintf("`aws secretsmanager restore-secret --region %s --secret-id %s` keeps it", w.Region, name)
	case f.Key.There && f.Hook.There && f.Hook.Filled:
		s.State, s.Text = Done, w.KeyName+", "+w.HookName
	}
	return s
}

func register(w Wish, f Found) Step {
	owner := "your own account"
	if w.Owner != "" {
		owner = "the organization " + w.Owner
	}
	s := Step{Name: Register, State: Todo, Text: "register a GitHub App of " + owner + " at " + w.GitHub}
	switch {
	case w.GivenApp:
		s.State, s.Text = Done, "the one that the parameters name"
	case f.App.ID != 0:
		s.State, s.Text = Done, fmt.Sprintf("%s (ID %d)", f.App.Slug, f.App.ID)
	}
	return s
}

func key(w Wish, f Found) Step {
	s := Step{Name: Key, State: Todo, Text: "put the App's private key into its secret"}
	switch {
	case w.GivenApp || f.Key.Filled:
		s.State, s.Text = Done, "the App's private key is in its secret"
	case f.App.ID != 0 && !w.KeyAtHand:
		s.State, s.Text = Blocked, fmt.Sprintf("the App %s is registered, but its private key was not stored, and nobody has it", f.App.Slug)
		s.Remedy = "generate another private key in the App's settings at GitHub, and run again with -app-key FILE; then delete the file"
	}
	return s
}

func depot(w Wish, f Found) Step {
	s := Step{Name: Depot, State: Todo, Text: "make the bucket " + w.Bucket + ", versioned, and closed to the public"}
	switch b := f.Bucket; {
	case b.Foreign:
		s.State, s.Text = Blocked, w.Bucket+" is not this account's, or you may not see it"
		s.Remedy = "name another bucket with -bucket"
	case b.There && b.Elsewhere != "":
		s.State, s.Text = Blocked, fmt.Sprintf("%s is in %s, and functions need their code in their own region, %s", w.Bucket, b.Elsewhere, w.Region)
		s.Remedy = "name another bucket with -bucket"
	case b.There && b.Versioned && b.Closed:
		s.State, s.Text = Done, w.Bucket
	case b.There:
		s.Text = "make " + w.Bucket + " versioned, and close it to the public"
	}
	return s
}

func upload(w Wish, f Found) Step {
	s := Step{Name: Upload, State: Todo, Text: "upload " + strings.Join(f.Missing, ", ")}
	if !f.Bucket.There || f.Bucket.Foreign {
		s.Text = fmt.Sprintf("upload %d files", w.Code)
	} else if len(f.Missing) == 0 {
		s.State, s.Text = Done, fmt.Sprintf("%d files", w.Code)
	}
	return s
}

func deploy(w Wish, f Found) Step {
	s := Step{Name: Deploy, State: Todo, Text: "create the stack " + w.Stack}
	status := f.Stack.Status
	switch {
	case status == "" || status == "REVIEW_IN_PROGRESS":
	case strings.HasSuffix(status, "_IN_PROGRESS"):
		s.Text = fmt.Sprintf("wait for the change of the stack %s that is under way (%s)", w.Stack, status)
	case status == "ROLLBACK_COMPLETE" || status == "CREATE_FAILED":
		s.Text = fmt.Sprintf("delete what a failed creation has left of the stack %s, and create it", w.Stack)
	case strings.HasSuffix(status, "_FAILED"):
		s.State, s.Text = Blocked, fmt.Sprintf("the stack %s is %s: %s", w.Stack, status, f.Stack.Reason)
		s.Remedy = fmt.Sprintf("`aws cloudformation continue-update-rollback --region %s --stack-name %s` brings it back to its last good state", w.Region, w.Stack)
		if status == "DELETE_FAILED" || status == "ROLLBACK_FAILED" {
			s.Remedy = fmt.Sprintf("`aws cloudformation delete-stack --region %s --stack-name %s` deletes it, once the reason is gone", w.Region, w.Stack)
		}
	case len(f.Changes) == 0:
		s.State, s.Text = Done, w.Stack+" is up to date"
	default:
		s.Text = "update the stack " + w.Stack + ": " + strings.Join(f.Changes, "; ")
	}
	return s
}

func hook(w Wish, f Found) Step {
	s := Step{Name: Hook, State: Todo, Text: "give the App the address of the stack's webhook"}
	switch {
	case f.Stack.HookURL == "":
	case f.HookURL == f.Stack.HookURL:
		s.State, s.Text = Done, f.HookURL
	case w.GivenApp:
		s.Text = "give the App the address " + f.Stack.HookURL
	}
	return s
}

func check(f Found) Step {
	s := Step{Name: Check, State: Todo, Text: "have GitHub deliver a webhook, and see that it arrives"}
	switch f.Delivery {
	case ArrivedDelivery:
		s.State, s.Text = Done, "a webhook has arrived"
	case NothingToSend:
		s.State, s.Text = Done, "GitHub has no webhook of the last days to send again: the first pull request brings one"
	case FailedDelivery:
		s.Text = "have GitHub deliver a webhook once more: the last one did not arrive"
	}
	return s
}
