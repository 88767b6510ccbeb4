package s3

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// SDK returns the configuration of the AWS SDK that the attributes of a backend block ask for, those
// about a bucket aside, with credentials that were verified unless the attributes turn that off. It is
// for clients of other services that are configured with the same attributes. Credentials of the
// caller's replace all others unless they are nil.
func SDK(ctx context.Context, attributes map[string]any, credentials aws.CredentialsProvider) (aws.Config, error) {
	all := maps.Clone(attributes)
	if all == nil {
		all = map[string]any{}
	}
	all["bucket"], all["key"] = "none", "none"
	c, err := Decode(all)
	if err != nil {
		return aws.Config{}, err
	}
	sdk, err := c.load(ctx)
	if err != nil {
		return aws.Config{}, err
	}
	if credentials != nil {
		sdk.Credentials = aws.NewCredentialsCache(credentials)
	}
	if sdk.Credentials == nil {
		return aws.Config{}, ErrNoCredentials
	}
	if _, err := sdk.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, fmt.Errorf("%w (%w)", ErrNoCredentials, err)
	}
	return sdk, c.verify(ctx, sdk)
}
