package preparing

import (
	"context"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/lockstep-iac/lockstep/functions/modules/buckets"
)

// bucketConfig returns the AWS configuration for reading a module from S3. q is the query of the module's
// address. Credentials or a profile in q are used; without them, the credentials of the environment.
func bucketConfig(ctx context.Context, o buckets.Object, q url.Values) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithRegion(o.Region), config.WithAppID("lockstep")}
	if p := q.Get("aws_profile"); p != "" {
		options = append(options, config.WithSharedConfigProfile(p))
	}
	if id := q.Get("aws_access_key_id"); id != "" {
		options = append(options, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(id, q.Get("aws_access_key_secret"), q.Get("aws_access_token"))))
	}
	return config.LoadDefaultConfig(ctx, options...)
}
