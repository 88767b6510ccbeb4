package s3

import (
	"encoding/base64"
	"fmt"
	"os"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Config has the attributes of a `backend "s3"` block. A field is a pointer if "not set" differs from the
// zero value. Config has secrets: do not print it.
type Config struct {
	Bucket             string  `json:"bucket"`
	Key                string  `json:"key"`
	WorkspaceKeyPrefix *string `json:"workspace_key_prefix"`
	Region             string  `json:"region"`

	DynamoDBTable string `json:"dynamodb_table"`
	UseLockfile   bool   `json:"use_lockfile"`

	Encrypt        bool   `json:"encrypt"`
	KMSKeyID       string `json:"kms_key_id"`
	SSECustomerKey string `json:"sse_customer_key"`
	ACL            string `json:"acl"`
	SkipS3Checksum bool   `json:"skip_s3_checksum"`
	// StateTags are the tags of all objects except lock objects. LockTags are the tags of lock objects.
	StateTags map[string]string `json:"state_tags"`
	LockTags  map[string]string `json:"lock_tags"`

	AccessKey                 string           `json:"access_key"`
	SecretKey                 string           `json:"secret_key"`
	Token                     string           `json:"token"`
	Profile                   string           `json:"profile"`
	SharedConfigFiles         []string         `json:"shared_config_files"`
	SharedCredentialsFile     string           `json:"shared_credentials_file"`
	SharedCredentialsFiles    []string         `json:"shared_credentials_files"`
	AssumeRole                *AssumeRole      `json:"assume_role"`
	AssumeRoleWithWebIdentity *AssumeRoleByWeb `json:"assume_role_with_web_identity"`
	AllowedAccountIDs         []string         `json:"allowed_account_ids"`
	ForbiddenAccountIDs       []string         `json:"forbidden_account_ids"`
	SkipCredentialsValidation bool             `json:"skip_credentials_validation"`
	SkipRequestingAccountID   bool             `json:"skip_requesting_account_id"`
	SkipMetadataAPICheck      *bool            `json:"skip_metadata_api_check"`
	SkipRegionValidation      bool             `json:"skip_region_validation"`
	Endpoints                 Endpoints        `json:"endpoints"`
	Endpoint                  string           `json:"endpoint"`
	DynamoDBEndpoint          string           `json:"dynamodb_endpoint"`
	IAMEndpoint               string           `json:"iam_endpoint"`
	STSEndpoint               string           `json:"sts_endpoint"`
	STSRegion                 string           `json:"sts_region"`
	EC2MetadataEndpoint       string           `json:"ec2_metadata_service_endpoint"`
	EC2MetadataEndpointMode   string           `json:"ec2_metadata_service_endpoint_mode"`
	UsePathStyle              *bool            `json:"use_path_style"`
	ForcePathStyle            *bool            `json:"force_path_style"`
	UseFIPSEndpoint           *bool            `json:"use_fips_endpoint"`
	UseDualStackEndpoint      *bool            `json:"use_dualstack_endpoint"`
	MaxRetries                *int             `json:"max_retries"`
	RetryMode                 string           `json:"retry_mode"`
	CustomCABundle            string           `json:"custom_ca_bundle"`
	Insecure                  bool             `json:"insecure"`
	HTTPProxy                 *string          `json:"http_proxy"`
	HTTPSProxy                *string          `json:"https_proxy"`
	NoProxy                   string           `json:"no_proxy"`
}

// AssumeRole has the attributes of the object assume_role.
type AssumeRole struct {
	RoleARN           string            `json:"role_arn"`
	Duration          string            `json:"duration"`
	ExternalID        string            `json:"external_id"`
	Policy            string            `json:"policy"`
	PolicyARNs        []string          `json:"policy_arns"`
	SessionName       string            `json:"session_name"`
	SourceIdentity    string            `json:"source_identity"`
	Tags              map[string]string `json:"tags"`
	TransitiveTagKeys []string          `json:"transitive_tag_keys"`
}

// AssumeRoleByWeb has the attributes of the object assume_role_with_web_identity.
type AssumeRoleByWeb struct {
	RoleARN              string   `json:"role_arn"`
	Duration             string   `json:"duration"`
	Policy               string   `json:"policy"`
	PolicyARNs           []string `json:"policy_arns"`
	SessionName          string   `json:"session_name"`
	WebIdentityToken     string   `json:"web_identity_token"`
	WebIdentityTokenFile string   `json:"web_identity_token_file"`
}

// Endpoints has the attributes of the object endpoints: base URLs of services.
type Endpoints struct {
	DynamoDB string `json:"dynamodb"`
	IAM      string `json:"iam"`
	S3       string `json:"s3"`
	SSO      string `json:"sso"`
	STS      string `json:"sts"`
}

// defaultWorkspaceKeyPrefix is Terraform's default of workspace_key_prefix.
const defaultWorkspaceKeyPrefix = "env:"

// Decode reads the attributes of a backend block, and takes missing ones from the environment. It checks the
// result as far as that is possible without a request to AWS. The error is a *statebackend.AttributeError.
func Decode(attributes map[string]any) (*Config, error) {
	c := new(Config)
	if err := statebackend.Decode(Attributes, attributes, c); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.addEnvironment()
	if err := c.checkEnvironment(); err != nil {
		return nil, err
	}
	return c, nil
}

// addEnvironment sets missing attributes from the variables that the stock backend reads itself. Names that
// end in _ENDPOINT are deprecated. The SDK reads all other variables, such as AWS_ACCESS_KEY_ID and
// AWS_PROFILE.
func (c *Config) addEnvironment() {
	fill(&c.Region, "AWS_REGION", "AWS_DEFAULT_REGION")
	fill(&c.Endpoints.S3, "AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT")
	fill(&c.Endpoints.DynamoDB, "AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT")
	fill(&c.Endpoints.STS, "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT")
	fill(&c.Endpoints.IAM, "AWS_ENDPOINT_URL_IAM", "AWS_IAM_ENDPOINT")
	fill(&c.Endpoints.SSO, "AWS_ENDPOINT_URL_SSO")
	fill(&c.EC2MetadataEndpoint, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_METADATA_URL")
	fill(&c.EC2MetadataEndpointMode, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")
	fill(&c.CustomCABundle, "AWS_CA_BUNDLE")
	fill(&c.RetryMode, "AWS_RETRY_MODE")
	fillOne(&c.SharedConfigFiles, "AWS_SHARED_CONFIG_FILE")
	fillOne(&c.SharedCredentialsFiles, "AWS_SHARED_CREDENTIALS_FILE")
	fillBool(&c.UseFIPSEndpoint, "AWS_USE_FIPS_ENDPOINT")
	fillBool(&c.UseDualStackEndpoint, "AWS_USE_DUALSTACK_ENDPOINT")
}

// fill sets a missing attribute to the value of the first environment variable in variables that is not empty.
func fill(attribute *string, variables ...string) {
	for _, v := range variables {
		if *attribute == "" {
			*attribute = os.Getenv(v)
		}
	}
}

func fillOne(attribute *[]string, variable string) {
	if v := os.Getenv(variable); v != "" && len(*attribute) == 0 {
		*attribute = []string{v}
	}
}

// fillBool sets a missing attribute to true if the environment variable has any value, as the stock backend
// does.
func fillBool(attribute **bool, variable string) {
	if os.Getenv(variable) != "" && *attribute == nil {
		yes := true
		*attribute = &yes
	}
}

// sseKeyVariable is the environment variable for the customer key, for users who keep the key out of files. The
// stock backend also reads it.
const sseKeyVariable = "AWS_SSE_CUSTOMER_KEY"

// customerKey returns the user's own key for server-side encryption, or nil if there is none. The key is used
// only if encrypt is true, as in the stock backend.
func (c *Config) customerKey() ([]byte, error) {
	name, text := "sse_customer_key", c.SSECustomerKey
	if text == "" {
		name, text = sseKeyVariable, os.Getenv(sseKeyVariable)
	}
	if text == "" {
		return nil, nil
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != 32 {
		// The value itself must not be shown.
		return nil, fmt.Errorf("%s must be 32 bytes in base64, which is 44 characters", name)
	}
	return key, nil
}
