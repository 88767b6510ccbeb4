package infra

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// account is the one of all modules.
const account = "111122223333"

// awsTypes are the parts of the provider's types that the modules use.
// Source: https://registry.terraform.io/providers/hashicorp/aws/latest/docs
const awsTypes = `
data aws_caller_identity
  account_id string computed
data aws_partition
  partition string computed
data aws_iam_policy_document
  json string computed
  statement block(list) {
    sid           string optional
    effect        string optional
    actions       set(string) optional
    resources     set(string) optional
    not_resources set(string) optional
    principals block(set) {
      type        string required
      identifiers set(string) required
    }
    condition block(set) {
      test     string required
      variable string required
      values   list(string) required
    }
  }
resource aws_iam_role
  id                   string computed
  arn                  string computed
  name                 string required
  description          string optional
  assume_role_policy   string required
  permissions_boundary string optional
  max_session_duration number optional
  tags                 map(string) optional
resource aws_iam_role_policy
  id     string computed
  name   string required
  role   string required
  policy string required
resource aws_iam_role_policy_attachment
  id         string computed
  role       string required
  policy_arn string required
resource aws_kms_key
  id                      string computed
  arn                     string computed
  key_id                  string computed
  description             string optional
  enable_key_rotation     bool optional
  deletion_window_in_days number optional
  policy                  string optional
  tags                    map(string) optional
resource aws_kms_alias
  id            string computed
  name          string required
  target_key_id string required
resource aws_s3_bucket
  id     string computed
  arn    string computed
  bucket string required
  tags   map(string) optional
resource aws_s3_bucket_policy
  id     string computed
  bucket string required
  policy string required
resource aws_s3_bucket_versioning
  id     string computed
  bucket string required
  versioning_configuration block(single) {
    status string required
  }
resource aws_s3_bucket_server_side_encryption_configuration
  id     string computed
  bucket string required
  rule block(single) {
    bucket_key_enabled bool optional
    apply_server_side_encryption_by_default block(single) {
      sse_algorithm     string required
      kms_master_key_id string optional
    }
  }
resource aws_s3_bucket_public_access_block
  id                      string computed
  bucket                  string required
  block_public_acls       bool optional
  block_public_policy     bool optional
  ignore_public_acls      bool optional
  restrict_public_buckets bool optional
resource aws_s3_bucket_ownership_controls
  id     string computed
  bucket string required
  rule block(single) {
    object_ownership string required
  }
resource aws_s3_bucket_lifecycle_configuration
  id     string computed
  bucket string required
  rule block(list) {
    id     string required
    status string required
    filter block(single) {
      prefix string optional
    }
    noncurrent_version_expiration block(single) {
      noncurrent_days           number optional
      newer_noncurrent_versions number optional
    }
    abort_incomplete_multipart_upload block(single) {
      days_after_initiation number optional
    }
  }
resource aws_dynamodb_table
  id                          string computed
  arn                         string computed
  name                        string required
  billing_mode                string optional
  hash_key                    string optional
  deletion_protection_enabled bool optional
  tags                        map(string) optional
  attribute block(set) {
    name string required
    type string required
  }
  point_in_time_recovery block(single) {
    enabled bool required
  }
  server_side_encryption block(single) {
    enabled bool required
  }
`

// awsClient is the provider "aws" without AWS: it makes whatever is planned, and knows its name before.
type awsClient struct{ provider.Client }

func aws(t *testing.T) map[addrs.Provider]provider.Factory {
	t.Helper()
	types := providertest.New(t, awsTypes)
	return map[addrs.Provider]provider.Factory{addrs.DefaultProvider("aws"): func(context.Context, *schema.Provider) (provider.Client, error) {
		return awsClient{types.Client()}, nil
	}}
}

// Plan implements provider.Client.
func (c awsClient) Plan(_ context.Context, req provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	values := req.Proposed.AsValueMap()
	name := req.TypeName
	for _, attribute := range []string{"name", "bucket", "role"} {
		if v, ok := values[attribute]; ok && v.IsKnown() && !v.IsNull() {
			name = v.AsString()
			break
		}
	}
	arn := map[string]string{
		"aws_iam_role": "arn:aws:iam::" + account + ":role/", "aws_kms_key": "arn:aws:kms:us-east-1:" + account + ":key/",
		"aws_s3_bucket": "arn:aws:s3:::", "aws_dynamodb_table": "arn:aws:dynamodb:us-east-1:" + account + ":table/",
	}[req.TypeName]
	for attribute, value := range map[string]string{"id": name, "key_id": name, "arn": arn + name} {
		if _, ok := values[attribute]; ok {
			values[attribute] = cty.StringVal(value)
		}
	}
	return provider.PlanResponse{Planned: cty.ObjectVal(values)}, nil
}

// Apply implements provider.Client.
func (c awsClient) Apply(_ context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	return provider.ApplyResponse{New: req.Planned}, nil
}

// ReadData implements provider.Client.
func (c awsClient) ReadData(_ context.Context, typeName string, config, _ cty.Value) (cty.Value, diags.Diagnostics) {
	values := config.AsValueMap()
	switch typeName {
	case "aws_caller_identity":
		values["account_id"] = cty.StringVal(account)
	case "aws_partition":
		values["partition"] = cty.StringVal("aws")
	case "aws_iam_policy_document":
		var statements []any
		for _, s := range values["statement"].AsValueSlice() {
			statements = append(statements, statementOf(s))
		}
		data, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements})
		if err != nil {
			panic(err) // of texts
		}
		values["json"] = cty.StringVal(string(data))
	}
	return cty.ObjectVal(values), nil
}

// statementOf is a block in the grammar of policies.
func statementOf(v cty.Value) map[string]any {
	out := map[string]any{"Effect": "Allow"}
	for attribute, element := range map[string]string{"sid": "Sid", "effect": "Effect"} {
		if x := v.GetAttr(attribute); !x.IsNull() {
			out[element] = x.AsString()
		}
	}
	for attribute, element := range map[string]string{"actions": "Action", "resources": "Resource", "not_resources": "NotResource"} {
		if x := v.GetAttr(attribute); !x.IsNull() {
			out[element] = textsOf(x)
		}
	}
	for _, p := range v.GetAttr("principals").AsValueSlice() {
		ids := textsOf(p.GetAttr("identifiers"))
		if strings.Join(ids, " ") == "*" {
			out["Principal"] = "*"
			continue
		}
		out["Principal"] = map[string]any{p.GetAttr("type").AsString(): ids}
	}
	conditions := map[string]map[string]any{}
	for _, c := range v.GetAttr("condition").AsValueSlice() {
		test := c.GetAttr("test").AsString()
		if conditions[test] == nil {
			conditions[test] = map[string]any{}
		}
		conditions[test][c.GetAttr("variable").AsString()] = textsOf(c.GetAttr("values"))
	}
	if len(conditions) > 0 {
		out["Condition"] = conditions
	}
	return out
}

func textsOf(v cty.Value) []string {
	out := []string{}
	for _, x := range v.AsValueSlice() {
		out = append(out, fmt.Sprint(x.AsString()))
	}
	return out
}
