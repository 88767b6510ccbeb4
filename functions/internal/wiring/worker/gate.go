package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
)

// caller calls gates with the function's own role, which the template's parameters GateFunctions and GateSecrets
// let do so: no program of a pull request has that role.
func caller(cfg aws.Config, hide func(string) string) *callouts.Caller {
	in := func(arn string) aws.Config {
		c := cfg.Copy()
		c.Region = strings.SplitN(arn, ":", 5)[3]
		return c
	}
	return &callouts.Caller{
		Hide: hide,
		Invoke: func(ctx context.Context, arn string, payload []byte) ([]byte, error) {
			out, err := lambda.NewFromConfig(in(arn)).Invoke(ctx, &lambda.InvokeInput{FunctionName: &arn, Payload: payload})
			if err != nil {
				return nil, fmt.Errorf("it cannot be invoked, for which the deployment's parameter GateFunctions must match its name: %w", err)
			}
			if out.FunctionError != nil {
				return nil, errors.New("the function failed: its log tells why")
			}
			return out.Payload, nil
		},
		Secret: func(ctx context.Context, arn string) (string, error) {
			out, err := secretsmanager.NewFromConfig(in(arn)).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
			if err != nil {
				return "", fmt.Errorf("the deployment's parameter GateSecrets must match its name: %w", err)
			}
			return aws.ToString(out.SecretString), nil
		},
	}
}
