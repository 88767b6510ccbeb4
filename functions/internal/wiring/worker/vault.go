package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// A vault reads the secrets that environments name. It uses the role of the environment, and never the
// function's own credentials. So the policy of that role decides which secrets can be read.
type vault struct {
	target target
	AWS    aws.Config // its credentials are not used
}

// values returns the secrets of a job's environment, by name. The text of the error is for users.
func (v vault) values(ctx context.Context, j jobs.Job) (map[string]string, error) {
	wanted := j.Environment.Secrets()
	out := map[string]string{}
	if len(wanted) == 0 {
		return out, nil
	}
	session, err := v.target.session(ctx, j)
	if err != nil {
		return nil, err
	}
	cfg := v.AWS.Copy()
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return session, nil })
	role, _ := j.Environment.Role(v.target.Applies)
	for _, s := range wanted {
		value, err := read(ctx, cfg, s)
		if err != nil {
			return nil, fmt.Errorf("the secret %s of the environment %q (%s on the base branch), %s, cannot be read: %w. Correct its ARN there, or let the role %s read it, as secret_arns of the module infra/target does", s.Name, j.Environment.Name(), s.At, s.ARN, err, role)
		}
		out[s.Name] = value
	}
	return out, nil
}

// read returns the value of a secret. It sends the request to the region in the ARN of the secret.
func read(ctx context.Context, cfg aws.Config, s environments.Secret) (string, error) {
	parts := strings.SplitN(s.ARN, ":", 6)
	cfg.Region = parts[3]
	var value *string
	if parts[2] == "ssm" {
		yes := true
		out, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: &s.ARN, WithDecryption: &yes})
		if err != nil {
			return "", err
		}
		if out.Parameter != nil {
			value = out.Parameter.Value
		}
	} else {
		out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.ARN})
		if err != nil {
			return "", err
		}
		value = out.SecretString
	}
	if aws.ToString(value) == "" {
		return "", errors.New("it holds no text")
	}
	return *value, nil
}
