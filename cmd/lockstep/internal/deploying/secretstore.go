package deploying

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/lockstep-iac/lockstep/github"
)

// A secretStore stores the App's private key and its webhook secret in the account's Secrets Manager. Tags of
// the key's secret name the App, so that a later run finds it. No value is printed or written to disk.
type secretStore struct{ Client *secretsmanager.Client }

// A keptSecret describes one secret in Secrets Manager, without its value: the App's private key or its webhook
// secret.
type keptSecret struct {
	ARN string // "" if the secret does not exist
	secretFound
	App    appFound
	GitHub string // the address of the App's GitHub
}

// The tags of the secret with the App's private key.
const (
	tagID     = "lockstep:app-id"
	tagSlug   = "lockstep:app"
	tagPage   = "lockstep:app-page"
	tagGitHub = "lockstep:github"
)

// Look returns the description of the secret with the given name, without the secret's value.
func (v secretStore) Look(ctx context.Context, name string) (keptSecret, error) {
	got, err := v.Client.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &name})
	var none *types.ResourceNotFoundException
	if errors.As(err, &none) {
		return keptSecret{}, nil
	}
	if err != nil {
		return keptSecret{}, fmt.Errorf("look at the secret %s: %w", name, err)
	}
	s := keptSecret{ARN: aws.ToString(got.ARN), secretFound: secretFound{There: true, Filled: len(got.VersionIdsToStages) > 0, Deleted: got.DeletedDate != nil}}
	for _, t := range got.Tags {
		value := aws.ToString(t.Value)
		switch aws.ToString(t.Key) {
		case tagID:
			s.App.ID, err = strconv.ParseInt(value, 10, 64)
		case tagSlug:
			s.App.Slug = value
		case tagPage:
			s.App.Page = value
		case tagGitHub:
			s.GitHub = value
		}
	}
	if err != nil {
		return s, fmt.Errorf("the tag %s of the secret %s is no number", tagID, name)
	}
	return s, nil
}

// make creates a secret without a value. It does nothing if the secret exists.
func (v secretStore) make(ctx context.Context, name, about string, tags map[string]string) error {
	_, err := v.Client.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: &name, Description: &about, Tags: tagsOf(tags)})
	var there *types.ResourceExistsException
	if err != nil && !errors.As(err, &there) {
		return fmt.Errorf("make the secret %s: %w", name, err)
	}
	return nil
}

// Put sets the value of a secret.
func (v secretStore) Put(ctx context.Context, name, value string) error {
	_, err := v.Client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: &name, SecretString: &value})
	if err != nil {
		return fmt.Errorf("put the value of the secret %s: %w", name, err)
	}
	return nil
}

// Name sets tags of the secret with an App's private key. The tags say to which App the key belongs. address is
// the address of the GitHub server.
func (v secretStore) Name(ctx context.Context, name, address string, app appFound) error {
	_, err := v.Client.TagResource(ctx, &secretsmanager.TagResourceInput{SecretId: &name, Tags: tagsOf(map[string]string{
		tagID: strconv.FormatInt(app.ID, 10), tagSlug: app.Slug, tagPage: app.Page, tagGitHub: address,
	})})
	if err != nil {
		return fmt.Errorf("tag the secret %s: %w", name, err)
	}
	return nil
}

// Read returns the value of a secret. name is the secret's name or its ARN.
func (v secretStore) Read(ctx context.Context, name string) (github.Secret, error) {
	got, err := v.Client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
	if err != nil {
		return github.Secret{}, fmt.Errorf("read the secret %s: %w", name, err)
	}
	return github.NewSecret(aws.ToString(got.SecretString)), nil
}

func tagsOf(tags map[string]string) []types.Tag {
	var out []types.Tag
	for k, v := range tags {
		if v != "" { // an empty value would be permitted, but it means the same as no tag
			out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(v)})
		}
	}
	return out
}
