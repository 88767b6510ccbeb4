// Package endpoints parses the parts of lockstep.hcl that name a team's own programs: Lambda functions,
// webhooks, and programs on the machine of `lockstep serve`. The blocks hook and notify say when these programs
// are called, before and after plans and applies, and who is notified of the result.
//
// This package does not call the programs (package callouts does), and does not know their purpose. Start
// reading at [Endpoint].
package endpoints

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// An Endpoint is a Lambda function, a webhook, a program, a Slack channel, or an SNS topic.
type Endpoint struct {
	// Function is the ARN of a Lambda function, with or without a version or an alias.
	Function string `json:",omitempty"`
	// URL is the https URL of a webhook. Secret is the ARN of the secret in Secrets Manager with the key that
	// signs requests to the webhook.
	URL    string `json:",omitempty"`
	Secret string `json:",omitempty"`
	// Program is the name of a file in the directory of programs that the operator of `lockstep serve` chose.
	Program string `json:",omitempty"`
	// Slack is the ARN of the secret with the URL of a Slack incoming webhook. Topic is the ARN of an SNS
	// topic.
	Slack string `json:",omitempty"`
	Topic string `json:",omitempty"`
	// Timeout is the time for an answer, including all attempts.
	Timeout time.Duration
}

// DefaultTimeout is the default time for an answer, and MaxTimeout the longest. An apply waits for the answer
// with the state locked.
const (
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = time.Minute
)

// The patterns of the names of endpoints and secrets.
// Sources: https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_RequestSyntax,
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssecretsmanager.html#awssecretsmanager-resources-for-iam-policies,
// https://docs.aws.amazon.com/sns/latest/api/API_CreateTopic.html#API_CreateTopic_RequestParameters (FIFO topics want more than a message)
var (
	functionPattern = blocks.Pattern(`^arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]{1,64}(:(\$LATEST|[A-Za-z0-9_-]{1,128}))?$`)
	topicPattern    = blocks.Pattern(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$`)
	programPattern  = blocks.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)
	secretPattern   = blocks.Pattern(`^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]{1,519}$`)
)

// parseFunction checks the ARN of a function.
func parseFunction(arn string) error {
	if !functionPattern().MatchString(arn) {
		return errors.New("the function is named by its ARN: \"arn:aws:lambda:REGION:ACCOUNT:function:NAME\"")
	}
	return nil
}

// parseSecret checks the ARN of a secret.
func parseSecret(arn string) error {
	if !secretPattern().MatchString(arn) {
		return errors.New("the secret is named by its ARN in Secrets Manager: \"arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME\"")
	}
	return nil
}

// parseTopic checks the ARN of a topic.
func parseTopic(arn string) error {
	if !topicPattern().MatchString(arn) {
		return errors.New("the topic is named by its ARN, and is no FIFO topic: \"arn:aws:sns:REGION:ACCOUNT:NAME\"")
	}
	return nil
}

// parseProgram checks the name of a program.
func parseProgram(name string) error {
	if !programPattern().MatchString(name) {
		return errors.New("the program is the name of a file in the directory of lockstep serve's option -hook-programs: \"notify\"")
	}
	return nil
}

// maxURL is the maximum length of a URL in bytes.
const maxURL = 2000

// parseURL checks the URL of a webhook.
func parseURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "" || u.Fragment != "" || len(text) > maxURL {
		return errors.New("the URL begins with https:// and names a host")
	}
	if u.User != nil {
		return errors.New("the URL must have no user and no password: the requests are signed instead")
	}
	return nil
}

// parseTimeout parses the time for an answer.
func parseTimeout(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > MaxTimeout {
		return 0, fmt.Errorf("the time for an answer is from 1s to %.0fs: \"%.0fs\"", MaxTimeout.Seconds(), DefaultTimeout.Seconds())
	}
	return d, nil
}
