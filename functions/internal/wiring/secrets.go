package wiring

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/lockstep-iac/lockstep/github"
)

// secret reads a secret from AWS Secrets Manager.
func secret(ctx context.Context, cfg aws.Config, arn string) (github.Secret, error) {
	text, err := secretText(ctx, cfg, arn)
	if err != nil {
		return github.Secret{}, err
	}
	return github.NewSecret(text), nil
}

// secretText reads the text of a secret.
func secretText(ctx context.Context, cfg aws.Config, arn string) (string, error) {
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return "", fmt.Errorf("read the secret %s: %w", arn, err)
	}
	if strings.TrimSpace(aws.ToString(out.SecretString)) == "" {
		return "", fmt.Errorf("the secret %s has no text: put the key or the secret into it as text", arn)
	}
	return *out.SecretString, nil
}

// webhookSecrets reads the secrets that sign webhooks. The stored text has one on each line. Usually there is
// only one; while it is being replaced, there are the old one and the new one.
func webhookSecrets(ctx context.Context, cfg aws.Config, arn string) ([]github.Secret, error) {
	text, err := secretText(ctx, cfg, arn)
	if err != nil {
		return nil, err
	}
	var secrets []github.Secret
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			secrets = append(secrets, github.NewSecret(line))
		}
	}
	return secrets, nil
}
