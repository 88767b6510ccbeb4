package s3

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// SDK returns a configuration of the AWS SDK from the attributes of a backend block. It ignores the attributes
// about a bucket. It is for clients of other services with the same attributes. The credentials are verified,
// unless the attributes turn that off. credentials, unless nil, replaces all other credentials.
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
