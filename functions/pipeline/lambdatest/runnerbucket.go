//go:build linux

package lambdatest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// closed reports whether the policy of a bucket, or of its objects' key, denies a request that the
// function's role allows. Requests to a bucket outside the template are none of its business.
func (s *Stack) closed(role string, c call, header http.Header) bool {
	bucket, _, _ := strings.Cut(strings.TrimPrefix(c.Resource, "arn:aws:s3:::"), "/")
	logical := s.bucketOf(bucket)
	if logical == "" {
		return false
	}
	c.context = s3Context(header)
	refused := false
	s.each("AWS::S3::BucketPolicy", func(_ string, p map[string]any) {
		if p["Bucket"].(map[string]any)["Ref"] == logical {
			statements := statementsIn(s.resolver.resolve(p["PolicyDocument"]).(map[string]any))
			// The role allows it: only denials count.
			refused = refused || !allowed(append(statements, statement{actions: []string{"*"}, resources: []string{"*"}}), c)
		}
	})
	return refused || c.Action == "s3:PutObject" && !s.mayEncrypt(role, c.context, header)
}

// bucketOf returns the logical name of a bucket of the template.
func (s *Stack) bucketOf(bucket string) string {
	for name, r := range s.Template.Resources {
		if r.Type == "AWS::S3::Bucket" && s.Ref(name) == bucket {
			return name
		}
	}
	return ""
}

// s3Context returns the condition keys that S3 makes of a request. It counts as one by TLS, which
// AWS would have been asked by, and the runner's servers do not speak.
// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
func s3Context(header http.Header) map[string]string {
	out := map[string]string{"aws:SecureTransport": "true"}
	for _, name := range []string{"x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id"} {
		if v := header.Get(name); v != "" {
			out["s3:"+name] = v
		}
	}
	return out
}

// mayEncrypt reports whether S3, in a role's name, gets a data key for an object from the
// key that the request names: the key's policy and the role's must both say so.
// Source: https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
func (s *Stack) mayEncrypt(role string, s3 map[string]string, header http.Header) bool {
	for name, r := range s.Template.Resources {
		arn := s.resolver.atts[name+".Arn"]
		if r.Type != "AWS::KMS::Key" || arn != s3["s3:x-amz-server-side-encryption-aws-kms-key-id"] {
			continue
		}
		c := call{Action: "kms:GenerateDataKey", Resource: arn, context: map[string]string{
			"kms:ViaService": "s3." + Region + ".amazonaws.com", "aws:PrincipalArn": s.resolver.atts[role+".Arn"],
		}}
		maps.Copy(c.context, encryptionContextOf(header))
		policy := statementsIn(s.resolver.resolve(r.Properties["KeyPolicy"]).(map[string]any))
		return allowed(policy, c) && allowed(s.rightsOf(role), c)
	}
	return false
}

func encryptionContextOf(header http.Header) map[string]string {
	out := map[string]string{}
	var pairs map[string]string
	data, err := base64.StdEncoding.DecodeString(header.Get("x-amz-server-side-encryption-context"))
	if err == nil {
		err = json.Unmarshal(data, &pairs)
	}
	if err != nil {
		return out // whoever asks for the repository finds none
	}
	for k, v := range pairs {
		out[fmt.Sprintf("kms:EncryptionContext:%s", k)] = v
	}
	return out
}
