package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
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

// unencrypted are the buckets whose objects are not secret, and need not be under the deployment's key.
var unencrypted = []string{"Toolbox", "Audit"}

// only are the allowed properties of types of which another property could admit somebody: a
// function's own role or address, another account's stream.
var only = map[string][]string{
	"AWS::IAM::Role":          {"Description", "AssumeRolePolicyDocument", "PermissionsBoundary", "Policies"},
	"AWS::IAM::Policy":        {"PolicyName", "Roles", "PolicyDocument"},
	"AWS::IAM::RolePolicy":    {"PolicyName", "RoleName", "PolicyDocument"},
	"AWS::Lambda::Url":        {"TargetFunctionArn", "AuthType"},
	"AWS::Lambda::Permission": {"FunctionName", "Action", "Principal", "FunctionUrlAuthType", "InvokedViaFunctionUrl", "SourceAccount", "SourceArn"},
	"AWS::KMS::Key":           {"Description", "EnableKeyRotation", "KeyPolicy"},
	"AWS::Serverless::Function": {
		"FunctionName", "Description", "CodeUri", "Role", "ReservedConcurrentExecutions", "MemorySize", "Timeout",
		"EphemeralStorage", "Layers", "Environment", "EventInvokeConfig", "VpcConfig",
	},
}

// either are properties with one allowed value, or none. Lambda makes the network interfaces of
// functions in subnets with the functions' roles, by a policy that AWS keeps.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
var either = map[string]map[string]any{
	"AWS::IAM::Role": {"ManagedPolicyArns": map[string]any{"Fn::If": []any{
		"HasNetwork", []any{map[string]any{"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"}}, map[string]any{"Ref": "AWS::NoValue"}}}},
}

// Open returns the settings of a template that admit somebody whom no policy admits, lose data, or
// let one function starve the others.
func Open(x templates.Template) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(x.Resources)) {
		r := x.Resources[name]
		for _, path := range slices.Sorted(maps.Keys(settings[r.Type])) {
			if slices.Contains(unencrypted, name) && strings.HasPrefix(path, "BucketEncryption.") {
				continue
			}
			if got, want := at(r.Properties, strings.Split(path, ".")), settings[r.Type][path]; fmt.Sprint(got) != fmt.Sprint(want) {
				out = append(out, fmt.Sprintf("%s: %s is %v, and must be %v", name, path, got, want))
			}
		}
		for _, p := range slices.Sorted(maps.Keys(r.Properties)) {
			if want, ok := either[r.Type][p]; ok {
				if got := r.Properties[p]; fmt.Sprint(got) != fmt.Sprint(want) {
					out = append(out, fmt.Sprintf("%s: %s is %v, and must be %v", name, p, got, want))
				}
				continue
			}
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
