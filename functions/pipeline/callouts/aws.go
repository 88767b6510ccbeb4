package callouts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// AWS is the access to functions, secrets and topics in AWS.
type AWS struct {
	Config aws.Config
	// Functions, Secrets and Topics are patterns for the ones that Lockstep may use. If they are nil, only the
	// permissions of the credentials limit Lockstep.
	Functions, Secrets, Topics endpoints.Patterns
	// FunctionsSetting, SecretsSetting and TopicsSetting name the settings that allow the use of functions,
	// secrets and topics, for the text of an error: "the deployment's parameter CalledFunctions".
	FunctionsSetting, SecretsSetting, TopicsSetting string
}

// Caller returns a Caller that uses this access to AWS.
func (a AWS) Caller() *Caller { return &Caller{Invoke: a.invoke, Secret: a.secret, Publish: a.publish} }

// in returns the AWS configuration for the region in an ARN.
func (a AWS) in(arn string) aws.Config {
	c := a.Config.Copy()
	c.Region = strings.SplitN(arn, ":", 5)[3]
	return c
}

func (a AWS) invoke(ctx context.Context, arn string, payload []byte) ([]byte, error) {
	if a.Functions != nil && !a.Functions.Match(arn) {
		return nil, fmt.Errorf("the function may not be invoked, for which %s must match its ARN", a.FunctionsSetting)
	}
	out, err := lambda.NewFromConfig(a.in(arn)).Invoke(ctx, &lambda.InvokeInput{FunctionName: &arn, Payload: payload})
	if err != nil {
		return nil, refused("it cannot be invoked", a.FunctionsSetting, err)
	}
	if out.FunctionError != nil {
		return nil, errors.New("the function failed: its log tells why")
	}
	return out.Payload, nil
}

func (a AWS) publish(ctx context.Context, arn string, message []byte) error {
	if a.Topics != nil && !a.Topics.Match(arn) {
		return fmt.Errorf("nothing may be published on the topic, for which %s must match its ARN", a.TopicsSetting)
	}
	if _, err := sns.NewFromConfig(a.in(arn)).Publish(ctx, &sns.PublishInput{TopicArn: &arn, Message: aws.String(string(message))}); err != nil {
		return refused("nothing can be published on the topic", a.TopicsSetting, err)
	}
	return nil
}

func (a AWS) secret(ctx context.Context, arn string) (string, error) {
	if a.Secrets != nil && !a.Secrets.Match(arn) {
		return "", fmt.Errorf("%s must match its ARN", a.SecretsSetting)
	}
	out, err := secretsmanager.NewFromConfig(a.in(arn)).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return "", refused("AWS does not give it", a.SecretsSetting, err)
	}
	return aws.ToString(out.SecretString), nil
}

// refused returns an error about a request that AWS refused. It names the setting that may have to allow the
// request, unless AWS was only busy.
func refused(what, setting string, err error) error {
	if busy := new(retry.MaxAttemptsError); errors.As(err, &busy) {
		return fmt.Errorf("%s, after %d attempts: %w", what, busy.Attempt, busy.Err)
	}
	return fmt.Errorf("%s, for which %s must match its name: %w", what, setting, err)
}
