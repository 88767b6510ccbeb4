package s3

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// problem returns an AttributeError with that text, or nil if the text is "".
func problem(attribute, problem string) error {
	if problem == "" {
		return nil
	}
	return &statebackend.AttributeError{Attribute: attribute, Problem: problem}
}

// check checks the attributes of the block. It returns the first problem.
func (c *Config) check() error {
	prefix := ""
	if c.WorkspaceKeyPrefix != nil {
		prefix = *c.WorkspaceKeyPrefix
	}
	return first(
		problem("bucket", notEmpty(c.Bucket)),
		problem("key", notEmpty(c.Key)),
		problem("key", objectPath(c.Key)),
		problem("workspace_key_prefix", objectPath(prefix)),
		c.checkConflicts(),
		c.checkURLs(),
		c.checkRoles(),
		problem("state_tags", objectTags(c.StateTags)),
		problem("lock_tags", objectTags(c.LockTags)),
	)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func notEmpty(s string) string {
	if strings.TrimSpace(s) == "" {
		return "the value must not be empty or blank"
	}
	return ""
}

// objectTags returns the reason why S3 does not accept the tags; "" if it accepts them.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html
func objectTags(tags map[string]string) string {
	if len(tags) > 10 {
		return "an object may have 10 tags at most"
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		switch {
		case name == "" || utf8.RuneCountInString(name) > 128:
			return fmt.Sprintf("the name of the tag %q must have 1 to 128 characters", name)
		case utf8.RuneCountInString(tags[name]) > 256:
			return fmt.Sprintf("the value of the tag %q must have 256 characters at most", name)
		case strings.HasPrefix(strings.ToLower(name), "aws:"):
			return fmt.Sprintf("the name of the tag %q begins with \"aws:\", which AWS keeps for itself", name)
		}
	}
	return ""
}

// objectPath returns the reason why a key is refused; "" if it is accepted. Some slashes would break the layout
// of workspaces: S3 strips leading slashes, and treats a name with a trailing slash as a directory.
func objectPath(s string) string {
	switch {
	case strings.HasPrefix(s, "/"), strings.HasSuffix(s, "/"):
		return `the value must not start or end with "/"`
	case strings.Contains(s, "//"):
		return `the value must not contain "//"`
	}
	return ""
}

// checkConflicts allows only one attribute of each pair. It then moves the values of deprecated attributes to
// their successors.
func (c *Config) checkConflicts() error {
	for _, pair := range []struct {
		one, other       string
		oneSet, otherSet bool
	}{
		{"kms_key_id", "sse_customer_key", c.KMSKeyID != "", c.SSECustomerKey != ""},
		{"shared_credentials_file", "shared_credentials_files", c.SharedCredentialsFile != "", c.SharedCredentialsFiles != nil},
		{"force_path_style", "use_path_style", c.ForcePathStyle != nil, c.UsePathStyle != nil},
		{"allowed_account_ids", "forbidden_account_ids", c.AllowedAccountIDs != nil, c.ForbiddenAccountIDs != nil},
		{"endpoint", "endpoints.s3", c.Endpoint != "", c.Endpoints.S3 != ""},
		{"dynamodb_endpoint", "endpoints.dynamodb", c.DynamoDBEndpoint != "", c.Endpoints.DynamoDB != ""},
		{"iam_endpoint", "endpoints.iam", c.IAMEndpoint != "", c.Endpoints.IAM != ""},
		{"sts_endpoint", "endpoints.sts", c.STSEndpoint != "", c.Endpoints.STS != ""},
	} {
		if pair.oneSet && pair.otherSet {
			return problem(pair.one, "only one of "+pair.one+" and "+pair.other+" can be set")
		}
	}
	c.Endpoints.S3 += c.Endpoint
	c.Endpoints.DynamoDB += c.DynamoDBEndpoint
	c.Endpoints.IAM += c.IAMEndpoint
	c.Endpoints.STS += c.STSEndpoint
	if c.SharedCredentialsFile != "" {
		c.SharedCredentialsFiles = []string{c.SharedCredentialsFile}
	}
	if c.ForcePathStyle != nil {
		c.UsePathStyle = c.ForcePathStyle
	}
	return nil
}

func (c *Config) checkURLs() error {
	for _, e := range []struct{ attribute, url string }{
		{"endpoints.s3", c.Endpoints.S3},
		{"endpoints.dynamodb", c.Endpoints.DynamoDB},
		{"endpoints.iam", c.Endpoints.IAM},
		{"endpoints.sso", c.Endpoints.SSO},
		{"endpoints.sts", c.Endpoints.STS},
		{"ec2_metadata_service_endpoint", c.EC2MetadataEndpoint},
	} {
		if e.url == "" {
			continue
		}
		if u, err := url.Parse(e.url); err != nil || u.Scheme == "" || u.Host == "" {
			return problem(e.attribute, "the value must be a URL with a scheme and a host")
		}
	}
	switch c.EC2MetadataEndpointMode {
	case "", "IPv4", "IPv6":
	default:
		return problem("ec2_metadata_service_endpoint_mode", "the value must be IPv4 or IPv6")
	}
	if c.MaxRetries != nil && *c.MaxRetries < 0 {
		return problem("max_retries", "the value must not be negative")
	}
	return nil
}

func (c *Config) checkRoles() error {
	if r := c.AssumeRole; r != nil {
		if err := first(
			problem("assume_role.role_arn", roleARN(r.RoleARN)),
			problem("assume_role.duration", duration(r.Duration)),
			problem("assume_role.session_name", sessionName(r.SessionName)),
			problem("assume_role.source_identity", sessionName(r.SourceIdentity)),
			problem("assume_role.external_id", externalID(r.ExternalID)),
		); err != nil {
			return err
		}
	}
	if r := c.AssumeRoleWithWebIdentity; r != nil {
		const path = "assume_role_with_web_identity"
		if (r.WebIdentityToken == "") == (r.WebIdentityTokenFile == "") {
			return problem(path, "exactly one of web_identity_token and web_identity_token_file must be set")
		}
		return first(
			problem(path+".role_arn", roleARN(r.RoleARN)),
			problem(path+".duration", duration(r.Duration)),
			problem(path+".session_name", sessionName(r.SessionName)),
		)
	}
	return nil
}

// pattern returns a function that compiles a regular expression at its first call: most commands never need
// it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	arnPattern        = pattern(`^arn:[^:]+:iam::[0-9]*:role/.+$`)
	namePattern       = pattern(`^[\w+=,.@-]{2,64}$`)     // STS, AssumeRole: RoleSessionName
	externalIDPattern = pattern(`^[\w+=,.@:/-]+$`)        // STS, AssumeRole: ExternalId
	regionPattern     = pattern(`^[a-z]+(-[a-z]+)+-\d+$`) // every region so far
)

func roleARN(s string) string {
	if !arnPattern().MatchString(s) {
		return "the value must be the ARN of an IAM role"
	}
	return ""
}

func sessionName(s string) string {
	if s != "" && !namePattern().MatchString(s) {
		return "the value must be 2 to 64 letters, numbers or any of _+=,.@-"
	}
	return ""
}

func externalID(s string) string {
	if s != "" && (len(s) < 2 || len(s) > 1224 || !externalIDPattern().MatchString(s)) {
		return "the value must be 2 to 1224 letters, numbers or any of _+=,.@:/-"
	}
	return ""
}

func duration(s string) string {
	if s == "" {
		return ""
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return `the value must be a duration such as "1h30m"`
	case d < 15*time.Minute || d > 12*time.Hour:
		return "the duration must be between 15 minutes and 12 hours"
	}
	return ""
}

// checkEnvironment checks the values that can come from the environment.
func (c *Config) checkEnvironment() error {
	switch {
	case c.Region == "":
		return problem("region", `the attribute, or the environment variable AWS_REGION or AWS_DEFAULT_REGION, must be set`)
	case !c.SkipRegionValidation && !regionPattern().MatchString(c.Region):
		return problem("region", "the value is not the name of an AWS region (skip_region_validation accepts any)")
	case c.KMSKeyID != "" && os.Getenv(sseKeyVariable) != "":
		return problem("kms_key_id", "only one of kms_key_id and the environment variable "+sseKeyVariable+" can be set")
	}
	if c.RetryMode != "" {
		if _, err := aws.ParseRetryMode(c.RetryMode); err != nil {
			return problem("retry_mode", err.Error())
		}
	}
	if _, err := c.customerKey(); err != nil {
		return problem("sse_customer_key", err.Error())
	}
	return nil
}

// checkAccount returns an error if the block does not allow the account.
func (c *Config) checkAccount(id string) error {
	for _, forbidden := range c.ForbiddenAccountIDs {
		if id == forbidden {
			return problem("forbidden_account_ids", "the credentials belong to the forbidden account "+id)
		}
	}
	if len(c.AllowedAccountIDs) == 0 {
		return nil
	}
	for _, allowed := range c.AllowedAccountIDs {
		if id == allowed {
			return nil
		}
	}
	return problem("allowed_account_ids", "the credentials belong to the account "+id+", which is not allowed")
}
