package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
)

// settings are the mandatory properties of each type of resource, by path: protections that are not
// policies.
var settings = map[string]map[string]any{
	"AWS::S3::Bucket": {
		"PublicAccessBlockConfiguration.BlockPublicAcls":                                                    true,
		"PublicAccessBlockConfiguration.BlockPublicPolicy":                                                  true,
		"PublicAccessBlockConfiguration.IgnorePublicAcls":                                                   true,
		"PublicAccessBlockConfiguration.RestrictPublicBuckets":                                              true,
		"VersioningConfiguration.Status":                                                                    "Enabled",
		"OwnershipControls.Rules.0.ObjectOwnership":                                                         "BucketOwnerEnforced",
		"BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.SSEAlgorithm":   "aws:kms",
		"BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.KMSMasterKeyID": map[string]any{"Fn::GetAtt": "Key.Arn"},
		// Otherwise objects would share an encryption context.
		"BucketEncryption.ServerSideEncryptionConfiguration.0.BucketKeyEnabled": false,
	},
	"AWS::DynamoDB::Table": {
		"SSESpecification.SSEEnabled":                                 true,
		"PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": true,
	},
	"AWS::SQS::Queue": {"SqsManagedSseEnabled": true},
	// One role without it would be the way around it.
	"AWS::IAM::Role":      {"PermissionsBoundary": map[string]any{"Fn::If": []any{"HasBoundary", map[string]any{"Ref": "PermissionsBoundaryArn"}, map[string]any{"Ref": "AWS::NoValue"}}}},
	"AWS::KMS::Key":       {"EnableKeyRotation": true},
	"AWS::Logs::LogGroup": {"RetentionInDays": map[string]any{"Ref": "LogDays"}},
}

// only are the allowed properties of types of which another property could admit somebody: a role's
// managed policies, a function's own role or address, another account's stream.
var only = map[string][]string{
	"AWS::IAM::Role":          {"Description", "AssumeRolePolicyDocument", "PermissionsBoundary", "Policies"},
	"AWS::IAM::Policy":        {"PolicyName", "Roles", "PolicyDocument"},
	"AWS::IAM::RolePolicy":    {"PolicyName", "RoleName", "PolicyDocument"},
	"AWS::Lambda::Url":        {"TargetFunctionArn", "AuthType"},
	"AWS::Lambda::Permission": {"FunctionName", "Action", "Principal", "FunctionUrlAuthType", "InvokedViaFunctionUrl", "SourceAccount", "SourceArn"},
	"AWS::KMS::Key":           {"Description", "EnableKeyRotation", "KeyPolicy"},
	"AWS::Serverless::Function": {
		"FunctionName", "Description", "CodeUri", "Role", "ReservedConcurrentExecutions", "MemorySize", "Timeout",
		"EphemeralStorage", "Layers", "Environment", "EventInvokeConfig",
	},
}

// Open returns the settings of a template that admit somebody whom no policy admits, lose data, or
// let one function starve the others.
func Open(x lambdatest.Template) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(x.Resources)) {
		r := x.Resources[name]
		for _, path := range slices.Sorted(maps.Keys(settings[r.Type])) {
			if got, want := at(r.Properties, strings.Split(path, ".")), settings[r.Type][path]; fmt.Sprint(got) != fmt.Sprint(want) {
				out = append(out, fmt.Sprintf("%s: %s is %v, and must be %v", name, path, got, want))
			}
		}
		for _, p := range slices.Sorted(maps.Keys(r.Properties)) {
			if known := only[r.Type]; known != nil && !slices.Contains(known, p) {
				out = append(out, fmt.Sprintf("%s: %s is not among the properties that were thought of", name, p))
			}
		}
		switch r.Type {
		case "AWS::Serverless::Function":
			if !strings.Contains(fmt.Sprint(r.Properties["ReservedConcurrentExecutions"]), "Concurrency") {
				out = append(out, name+": it can take all invocations that the account has")
			}
		case "AWS::Lambda::EventSourceMapping":
			if at(r.Properties, []string{"ScalingConfig", "MaximumConcurrency"}) == nil {
				out = append(out, name+": it can take all invocations that the function has")
			}
		}
	}
	return out
}

// at returns the value at a path, or nil.
func at(v any, path []string) any {
	for _, p := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			var i int
			if _, err := fmt.Sscan(p, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}
