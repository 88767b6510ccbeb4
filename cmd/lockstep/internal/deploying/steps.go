package deploying

import (
	"fmt"
	"strings"
)

// A deployWish is the deployment that the user requests.
type deployWish struct {
	Stack, Region string
	// App is the name of an additional App; "" for the stack's first App.
	App               string
	KeyName, HookName string // of secrets
	Bucket            string // for the code
	GitHub            string // the address of its pages: https://github.com/
	Owner             string // the organization that will own the App; "" for the user's own account
	// GivenApp is set if a user created the App and its secrets without the command deploy.
	GivenApp bool
	// KeyAtHand is set if the options have a private key of the App.
	KeyAtHand bool
	Code      int // files to upload
}

// deploymentFound has the facts about a deployment that a survey has found at AWS and GitHub.
type deploymentFound struct {
	Key, Hook secretFound
	App       appFound
	Bucket    bucketFound
	Missing   []string // files that are not uploaded, or have other content
	Stack     stackFound
	Changes   []string // differences between the stack and the wish
	HookURL   string   // where GitHub sends webhooks
	Delivery  hookDelivery
}

// A secretFound says whether a secret exists in Secrets Manager, and whether it has a value.
type secretFound struct {
	There, Filled bool
	Deleted       bool // it is scheduled for deletion, and cannot be used
}

// An appFound is the App that an earlier run registered. Its data are in the tags of the secret with the App's
// key.
type appFound struct {
	ID   int64
	Slug string
	Page string
}

// A bucketFound describes the bucket for the functions' code.
type bucketFound struct {
	There     bool
	Foreign   bool   // it belongs to another account, or we have no access
	Elsewhere string // its region, if that is another one
	Versioned bool
	Closed    bool // to the public
}

// A stackFound describes the CloudFormation stack, as it exists now.
type stackFound struct {
	Status  string // CloudFormation's status; "" if the stack does not exist
	Reason  string
	HookURL string // its output
}

// A hookDelivery is the result of GitHub's latest attempt to deliver a webhook to the present address.
type hookDelivery int

const (
	noDelivery      hookDelivery = iota // none was tried
	failedDelivery                      // the answer was not a 2xx
	arrivedDelivery                     // the answer was a 2xx
	nothingToSend                       // GitHub has no webhook to send again
)

// A stepState is the state of a step, such as done or blocked.
type stepState string

const (
	stepDone    stepState = "done"
	stepTodo    stepState = "to do"
	stepLater   stepState = "later" // it will be known after an earlier step
	stepBlocked stepState = "blocked"
)

// The names of the steps of a deployment, in their order.
const (
	secretsStep  = "secrets"
	registerStep = "app"
	keyStep      = "key"
	depotStep    = "bucket"
	uploadStep   = "code"
	deployStep   = "stack"
	hookStep     = "webhook"
	checkStep    = "delivery"
)

// A step is one step of a deployment, with its state.
type step struct {
	Name   string
	State  stepState
	Text   string // the present state, or what will be done
	Remedy string // of a blocked one
}

// listSteps returns all steps of a deployment, each with its state. The same rules apply to the first run, a
// run after an interruption, an update, and the option -plan.
func listSteps(w deployWish, f deploymentFound) []step {
	list := []step{
		decideSecrets(w, f), decideRegister(w, f), decideKey(w, f), decideDepot(w, f), decideUpload(w, f), decideDeploy(w, f), decideHook(w, f), decideCheck(f),
	}
	waits := false
	for i, s := range list {
		if waits && s.State == stepTodo && needsEarlierSteps(s.Name) {
			list[i].State = stepLater
		}
		waits = waits || s.State != stepDone
	}
	return list
}

// needsEarlierSteps reports whether a step can be done only after all steps before it.
func needsEarlierSteps(name string) bool {
	return name == keyStep || name == deployStep || name == hookStep || name == checkStep
}

// nextStep returns the first step that is not done; ok is false if there is none.
func nextStep(list []step) (next step, ok bool) {
	for _, s := range list {
		if s.State != stepDone {
			return s, true
		}
	}
	return step{}, false
}

func decideSecrets(w deployWish, f deploymentFound) step {
	s := step{Name: secretsStep, State: stepTodo, Text: fmt.Sprintf("create the secrets %s and %s", w.KeyName, w.HookName)}
	switch {
	case w.App != "" && f.Stack.HookURL == "":
		s.State, s.Text = stepBlocked, fmt.Sprintf("the stack %s does not exist in %s, so the App %s cannot be added to it", w.Stack, w.Region, w.App)
		s.Remedy = "run `lockstep deploy` without -app first, or name another stack with -stack and -region"
	case w.GivenApp:
		s.State, s.Text = stepDone, "given by the parameters"
	case f.Key.Deleted || f.Hook.Deleted:
		name := w.KeyName
		if f.Hook.Deleted {
			name = w.HookName
		}
		s.State, s.Text = stepBlocked, name+" is scheduled for deletion"
		s.Remedy = fmt.Sprintf("run `aws secretsmanager restore-secret --region %s --secret-id %s` to keep it", w.Region, name)
	case f.Key.There && f.Hook.There && f.Hook.Filled:
		s.State, s.Text = stepDone, w.KeyName+", "+w.HookName
	}
	return s
}

func decideRegister(w deployWish, f deploymentFound) step {
	owner := "your own account"
	if w.Owner != "" {
		owner = "the organization " + w.Owner
	}
	s := step{Name: registerStep, State: stepTodo, Text: "register a GitHub App for " + owner + " on " + w.GitHub}
	switch {
	case w.GivenApp:
		s.State, s.Text = stepDone, "given by the parameters"
	case f.App.ID != 0:
		s.State, s.Text = stepDone, fmt.Sprintf("%s (ID %d)", f.App.Slug, f.App.ID)
	}
	return s
}

func decideKey(w deployWish, f deploymentFound) step {
	s := step{Name: keyStep, State: stepTodo, Text: "store the App's private key in its secret"}
	switch {
	case w.GivenApp || f.Key.Filled:
		s.State, s.Text = stepDone, "the App's private key is in its secret"
	case f.App.ID != 0 && !w.KeyAtHand:
		s.State, s.Text = stepBlocked, fmt.Sprintf("the App %s is registered, but its private key was not stored and is lost", f.App.Slug)
		s.Remedy = "generate another private key in the App's settings on GitHub, run `lockstep deploy -app-key FILE`, then delete the file"
	}
	return s
}

func decideDepot(w deployWish, f deploymentFound) step {
	s := step{Name: depotStep, State: stepTodo, Text: "create the bucket " + w.Bucket + " with versions and without public access"}
	switch b := f.Bucket; {
	case b.Foreign:
		s.State, s.Text = stepBlocked, w.Bucket+" belongs to another account, or you have no access to it"
		s.Remedy = "name another bucket: -bucket NAME"
	case b.There && b.Elsewhere != "":
		s.State, s.Text = stepBlocked, fmt.Sprintf("%s is in %s, but the functions need a bucket in their own region, %s", w.Bucket, b.Elsewhere, w.Region)
		s.Remedy = "name another bucket: -bucket NAME"
	case b.There && b.Versioned && b.Closed:
		s.State, s.Text = stepDone, w.Bucket
	case b.There:
		s.Text = "turn on versions of " + w.Bucket + ", and block public access"
	}
	return s
}

func decideUpload(w deployWish, f deploymentFound) step {
	s := step{Name: uploadStep, State: stepTodo, Text: "upload " + strings.Join(f.Missing, ", ")}
	if !f.Bucket.There || f.Bucket.Foreign {
		s.Text = fmt.Sprintf("upload %d files", w.Code)
	} else if len(f.Missing) == 0 {
		s.State, s.Text = stepDone, fmt.Sprintf("%d files", w.Code)
	}
	return s
}

func decideDeploy(w deployWish, f deploymentFound) step {
	s := step{Name: deployStep, State: stepTodo, Text: "create the stack " + w.Stack}
	status := f.Stack.Status
	switch {
	case status == "" || status == "REVIEW_IN_PROGRESS":
	case strings.HasSuffix(status, "_IN_PROGRESS"):
		s.Text = fmt.Sprintf("wait for the change of the stack %s that is in progress (%s)", w.Stack, status)
	case status == "ROLLBACK_COMPLETE" || status == "CREATE_FAILED":
		s.Text = fmt.Sprintf("delete the rest of the failed stack %s, and create it again", w.Stack)
	case strings.HasSuffix(status, "_FAILED"):
		s.State, s.Text = stepBlocked, fmt.Sprintf("the stack %s is %s: %s", w.Stack, status, f.Stack.Reason)
		s.Remedy = fmt.Sprintf("run `aws cloudformation continue-update-rollback --region %s --stack-name %s` to restore its last good state", w.Region, w.Stack)
		if status == "DELETE_FAILED" || status == "ROLLBACK_FAILED" {
			s.Remedy = fmt.Sprintf("remove the reason, then run `aws cloudformation delete-stack --region %s --stack-name %s`", w.Region, w.Stack)
		}
	case len(f.Changes) == 0:
		s.State, s.Text = stepDone, w.Stack+" is up to date"
	default:
		s.Text = "update the stack " + w.Stack + ": " + strings.Join(f.Changes, "; ")
	}
	return s
}

func decideHook(w deployWish, f deploymentFound) step {
	s := step{Name: hookStep, State: stepTodo, Text: "set the App's webhook address to that of the stack"}
	switch {
	case f.Stack.HookURL == "":
	case f.HookURL == f.Stack.HookURL:
		s.State, s.Text = stepDone, f.HookURL
	case w.GivenApp:
		s.Text = "set the App's webhook address to " + f.Stack.HookURL
	}
	return s
}

func decideCheck(f deploymentFound) step {
	s := step{Name: checkStep, State: stepTodo, Text: "ask GitHub to send a webhook, and check that it arrives"}
	switch f.Delivery {
	case arrivedDelivery:
		s.State, s.Text = stepDone, "a webhook has arrived"
	case nothingToSend:
		s.State, s.Text = stepDone, "not checked: GitHub has no recent webhook to send again; the first pull request sends one"
	case failedDelivery:
		s.Text = "ask GitHub to send the last webhook again, because it did not arrive"
	}
	return s
}
