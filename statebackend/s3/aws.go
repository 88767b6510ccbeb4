package s3

// The stock backend uses github.com/hashicorp/aws-sdk-go-base/v2 for the work of this file. In Lockstep that
// package would replace about 150 lines, but half of them by a translation of 40 settings into its own
// Config. It would add 1.7 MB to the 49.9 MB of the lockstep program, and 11 modules (measured with
// v2.0.0-beta.74; IAM, SNS and OpenTelemetry are among them). It does not accept the caller's credentials, as
// [Options] does, and has only beta versions. So Lockstep uses the SDK directly.

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
	"golang.org/x/net/http/httpproxy"
)

// defaultMaxRetries is the default of the stock backend.
const defaultMaxRetries = 5

// clients are the backend's connections to AWS.
type clients struct {
	s3       *awss3.Client
	dynamodb *awsdynamodb.Client
}

// ErrNoCredentials is returned if no credentials were found. Its text says how to provide some.
var ErrNoCredentials = errors.New("no AWS credentials were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile in the backend block")

// connect finds credentials, verifies them unless the block turns that off, and creates the clients. The
// clients call o.Note while they wait for a retry.
func (c *Config) connect(ctx context.Context, o Options) (clients, error) {
	sdk, err := c.load(ctx)
	if err != nil {
		return clients{}, err
	}
	if o.Credentials != nil {
		sdk.Credentials = aws.NewCredentialsCache(o.Credentials)
	}
	note := o.Note
	if sdk.Credentials == nil {
		return clients{}, ErrNoCredentials
	}
	if _, err := sdk.Credentials.Retrieve(ctx); err != nil {
		return clients{}, fmt.Errorf("%w (%w%s)", ErrNoCredentials, err, certificateHint(err))
	}
	if err := c.verify(ctx, sdk); err != nil {
		return clients{}, err
	}
	return clients{
		s3: awss3.NewFromConfig(sdk, func(o *awss3.Options) {
			o.BaseEndpoint = baseURL(c.Endpoints.S3)
			o.Retryer = patiently(o.Retryer, "S3", note)
			if c.UsePathStyle != nil {
				o.UsePathStyle = *c.UsePathStyle
			}
			if c.SkipS3Checksum {
				o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
				o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
			}
		}),
		dynamodb: awsdynamodb.NewFromConfig(sdk, func(o *awsdynamodb.Options) {
			o.BaseEndpoint = baseURL(c.Endpoints.DynamoDB)
			o.Retryer = patiently(o.Retryer, "DynamoDB", note)
		}),
	}, nil
}

// load returns the SDK's configuration for the attributes in c.
func (c *Config) load(ctx context.Context) (aws.Config, error) {
	client, err := c.httpClient()
	if err != nil {
		return aws.Config{}, err
	}
	options := []func(*config.LoadOptions) error{
		config.WithRegion(c.Region),
		config.WithAppID("lockstep"),
		config.WithHTTPClient(client),
		config.WithLogger(logging.Nop{}), // the returned errors are enough
		config.WithEC2IMDSEndpoint(c.EC2MetadataEndpoint),
		config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
			if sdk, ok := o.Client.(*sts.Client); ok {
				o.Client = c.redirectedSTS(sdk.Options())
			}
		}),
		config.WithWebIdentityRoleCredentialOptions(func(o *stscreds.WebIdentityRoleOptions) {
			if sdk, ok := o.Client.(*sts.Client); ok {
				o.Client = c.redirectedSTS(sdk.Options())
			}
		}),
		config.WithSSOProviderOptions(func(o *ssocreds.Options) {
			if sdk, ok := o.Client.(*sso.Client); ok && c.Endpoints.SSO != "" {
				redirected := sdk.Options()
				redirected.BaseEndpoint = baseURL(c.Endpoints.SSO)
				o.Client = sso.New(redirected)
			}
		}),
	}
	options = append(options, c.sources()...)
	sdk, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("configure the AWS SDK: %w", err)
	}
	if r := c.AssumeRoleWithWebIdentity; r != nil {
		sdk.Credentials = aws.NewCredentialsCache(c.webIdentityProvider(sdk, r))
	}
	if r := c.AssumeRole; r != nil {
		sdk.Credentials = aws.NewCredentialsCache(c.roleProvider(sdk, r))
	}
	return sdk, nil
}

// sources returns the SDK's options for the attributes that are set.
func (c *Config) sources() []func(*config.LoadOptions) error {
	var options []func(*config.LoadOptions) error
	add := func(o config.LoadOptionsFunc) { options = append(options, o) }
	switch {
	case c.MaxRetries != nil:
		add(config.WithRetryMaxAttempts(*c.MaxRetries + 1))
	case os.Getenv("AWS_MAX_ATTEMPTS") == "":
		add(config.WithRetryMaxAttempts(defaultMaxRetries + 1))
	}
	if c.RetryMode != "" {
		add(config.WithRetryMode(aws.RetryMode(c.RetryMode)))
	}
	if c.AccessKey != "" || c.SecretKey != "" {
		add(config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, c.Token)))
	}
	if c.Profile != "" {
		add(config.WithSharedConfigProfile(c.Profile))
	}
	if c.SharedConfigFiles != nil {
		add(config.WithSharedConfigFiles(atHome(c.SharedConfigFiles)))
	}
	if c.SharedCredentialsFiles != nil {
		add(config.WithSharedCredentialsFiles(atHome(c.SharedCredentialsFiles)))
	}
	if c.UseFIPSEndpoint != nil && *c.UseFIPSEndpoint {
		add(config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
	}
	if c.UseDualStackEndpoint != nil && *c.UseDualStackEndpoint {
		add(config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
	}
	return append(options, c.metadata()...)
}

// metadata returns the options for EC2's metadata service.
func (c *Config) metadata() []func(*config.LoadOptions) error {
	var options []func(*config.LoadOptions) error
	add := func(o config.LoadOptionsFunc) { options = append(options, o) }
	if skip := c.SkipMetadataAPICheck; skip != nil && *skip {
		add(config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	} else if skip != nil {
		add(config.WithEC2IMDSClientEnableState(imds.ClientEnabled))
	}
	switch c.EC2MetadataEndpointMode {
	case "IPv4":
		add(config.WithEC2IMDSEndpointMode(imds.EndpointModeStateIPv4))
	case "IPv6":
		add(config.WithEC2IMDSEndpointMode(imds.EndpointModeStateIPv6))
	}
	return options
}

// verify asks AWS for the identity of the credentials, and checks that the block allows the account.
func (c *Config) verify(ctx context.Context, sdk aws.Config) error {
	listed := len(c.AllowedAccountIDs) > 0 || len(c.ForbiddenAccountIDs) > 0
	if c.SkipCredentialsValidation && (!listed || c.SkipRequestingAccountID) {
		return nil
	}
	who, err := c.sts(sdk).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return fmt.Errorf("check the AWS credentials (skip_credentials_validation leaves that out): %w%s", err, certificateHint(err))
	}
	if c.SkipRequestingAccountID {
		return nil
	}
	return c.checkAccount(aws.ToString(who.Account))
}

func (c *Config) sts(sdk aws.Config) *sts.Client {
	return c.redirectedSTS(sts.NewFromConfig(sdk).Options())
}

// redirectedSTS returns an STS client with the block's sts_region and STS endpoint.
func (c *Config) redirectedSTS(o sts.Options) *sts.Client {
	if c.STSRegion != "" {
		o.Region = c.STSRegion
	}
	if c.Endpoints.STS != "" {
		o.BaseEndpoint = baseURL(c.Endpoints.STS)
	}
	o.Retryer = patiently(o.Retryer, "STS", nil)
	return sts.New(o)
}

// roleProvider returns credentials that assume a role, using the credentials of sdk.
func (c *Config) roleProvider(sdk aws.Config, r *AssumeRole) aws.CredentialsProvider {
	return stscreds.NewAssumeRoleProvider(c.sts(sdk), r.RoleARN, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = r.SessionName
		o.Duration = parsedDuration(r.Duration)
		o.ExternalID = optional(r.ExternalID)
		o.Policy = optional(strings.TrimSpace(r.Policy))
		o.PolicyARNs = policyARNs(r.PolicyARNs)
		o.SourceIdentity = optional(r.SourceIdentity)
		o.Tags = tags(r.Tags)
		o.TransitiveTagKeys = r.TransitiveTagKeys
	})
}

// webIdentityProvider returns credentials that assume a role with a web identity token.
func (c *Config) webIdentityProvider(sdk aws.Config, r *AssumeRoleByWeb) aws.CredentialsProvider {
	var token stscreds.IdentityTokenRetriever = stscreds.IdentityTokenFile(r.WebIdentityTokenFile)
	if r.WebIdentityToken != "" {
		token = identityToken(r.WebIdentityToken)
	}
	return stscreds.NewWebIdentityRoleProvider(c.sts(sdk), r.RoleARN, token, func(o *stscreds.WebIdentityRoleOptions) {
		o.RoleSessionName = r.SessionName
		o.Duration = parsedDuration(r.Duration)
		o.Policy = optional(strings.TrimSpace(r.Policy))
		o.PolicyARNs = policyARNs(r.PolicyARNs)
	})
}

// identityToken is a token that is in the block itself, not in a file.
type identityToken string

func (t identityToken) GetIdentityToken() ([]byte, error) { return []byte(t), nil }

// httpClient returns a client with the block's proxies and certificates.
func (c *Config) httpClient() (*awshttp.BuildableClient, error) {
	proxy := httpproxy.FromEnvironment()
	if c.HTTPProxy != nil {
		proxy.HTTPProxy = *c.HTTPProxy
		if c.HTTPSProxy == nil { // the stock backend, too, uses the HTTP proxy for both schemes
			proxy.HTTPSProxy = *c.HTTPProxy
		}
	}
	if c.HTTPSProxy != nil {
		proxy.HTTPSProxy = *c.HTTPSProxy
	}
	if c.NoProxy != "" {
		proxy.NoProxy = c.NoProxy
	}
	choose := proxy.ProxyFunc()
	roots, err := c.certificates()
	if err != nil {
		return nil, err
	}
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
		if t.TLSClientConfig == nil {
			t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		t.TLSClientConfig.RootCAs = roots
		t.TLSClientConfig.InsecureSkipVerify = c.Insecure
	}), nil
}

func parsedDuration(s string) time.Duration {
	d, _ := time.ParseDuration(s) // checked before; 0 is the service's default
	return d
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// baseURL returns an endpoint as a URL, or nil for AWS' own endpoint. The deprecated environment variables
// may have only a host: it gets "https://".
func baseURL(endpoint string) *string {
	if endpoint != "" && !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	return optional(endpoint)
}
