package modules

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/functions/modules/buckets"
)

// A Bucket decides which buckets of S3 modules may come from, and with which credentials they are read.
type Bucket struct {
	// Allowed returns an error for a bucket that the base branch does not name. The error is a sentence for
	// people, and tells them what to do.
	Allowed func(name string) error
	// Env returns the environment of the project's programs, NAME=VALUE each, which has the credentials. The
	// function's own credentials may read every state, and are not used.
	Env func(context.Context) ([]string, error)
}

// getter returns the getter that fetches modules from buckets. It uses only Amazon's own addresses, which
// nobody can redirect.
func (b Bucket) getter(limits getting.Limits) buckets.Getter {
	return buckets.Getter{Policy: hosts.Policy{}, Limits: limits, Config: b.config}
}

func (b Bucket) config(ctx context.Context, o buckets.Object, q url.Values) (aws.Config, error) {
	for name := range q {
		if strings.HasPrefix(name, "aws_") {
			return aws.Config{}, fmt.Errorf("the parameter %s is not for a pull request to say: remove it, and buckets are asked with the credentials of the project's providers", name)
		}
	}
	if o.Endpoint != "" {
		return aws.Config{}, errors.New("only Amazon's own servers are asked for modules in S3, as https://s3.eu-west-1.amazonaws.com/BUCKET/KEY.zip")
	}
	if b.Allowed == nil || b.Env == nil {
		return aws.Config{}, errors.New("S3 is not asked for modules here")
	}
	if err := b.Allowed(o.Bucket); err != nil {
		return aws.Config{}, err
	}
	env, err := b.Env(ctx)
	if err != nil {
		return aws.Config{}, err
	}
	have := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		have[name] = value
	}
	if have["AWS_ACCESS_KEY_ID"] == "" || have["AWS_SECRET_ACCESS_KEY"] == "" {
		return aws.Config{}, fmt.Errorf("there are no AWS credentials to read the bucket %s with: give the project's environment a plan_role and an apply_role that may, in lockstep.hcl on the base branch", o.Bucket)
	}
	return config.LoadDefaultConfig(ctx, config.WithRegion(o.Region), config.WithAppID("lockstep"), config.WithCredentialsProvider(
		credentials.NewStaticCredentialsProvider(have["AWS_ACCESS_KEY_ID"], have["AWS_SECRET_ACCESS_KEY"], have["AWS_SESSION_TOKEN"])))
}
