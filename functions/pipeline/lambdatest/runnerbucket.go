//go:build linux

package lambdatest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// follow returns the calls to KMS that S3 makes for the caller of c: GenerateDataKey for a written object, and
// Decrypt for a read object. Objects in the template's bucket have the key and the encryption context of their
// upload. Objects in the bucket of states have the bucket's default key, if the bucket has one.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func (s *Stack) follow(c templates.Call, header http.Header) []templates.Call {
	action := map[string]string{"s3:PutObject": "kms:GenerateDataKey", "s3:GetObject": "kms:Decrypt"}[c.Action]
	if action == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	bucket := bucketOf(c.Resource)
	if bucket == "arn:aws:s3:::"+s.resolver.Refs["StateBucket"] {
		if key := s.resolver.Refs["StateKeyArn"]; key != "" {
			return []templates.Call{throughS3(action, key, map[string]string{"aws:s3:arn": bucket})}
		}
		return nil
	}
	if key := header.Get("x-amz-server-side-encryption-aws-kms-key-id"); c.Action == "s3:PutObject" && key != "" {
		s.seals(c.Resource, throughS3("kms:Decrypt", key, encryptionContextOf(header)))
	}
	sealed, ok := s.sealed[c.Resource]
	if !ok {
		return nil
	}
	sealed.Action = action
	return []templates.Call{sealed}
}

// seals records the key that an object is encrypted with. The caller has locked the mutex.
func (s *Stack) seals(object string, c templates.Call) {
	if s.sealed == nil {
		s.sealed = map[string]templates.Call{}
	}
	s.sealed[object] = c
}

// throughS3 returns a call to KMS that S3 makes.
// Source: https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html
func throughS3(action, key string, context map[string]string) templates.Call {
	c := templates.Call{Action: action, Resource: key, Context: map[string][]string{"kms:ViaService": {"s3." + Region + ".amazonaws.com"}}}
	for k, v := range context {
		c.Context["kms:EncryptionContext:"+k] = []string{v}
	}
	if len(context) > 0 {
		c.Context["kms:EncryptionContextKeys"] = slices.Sorted(maps.Keys(context))
	}
	return c
}

// s3Context returns the condition keys that S3 derives from a request. The request counts as sent by TLS, as on
// AWS. The test servers themselves have no TLS.
// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
func s3Context(header http.Header) map[string][]string {
	out := tls()
	for _, name := range []string{"x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id"} {
		if v := header.Get(name); v != "" {
			out["s3:"+name] = []string{v}
		}
	}
	if v := header.Get("If-None-Match"); v != "" {
		out["s3:if-none-match"] = []string{v}
	}
	return out
}

// bucketOf returns the ARN of the bucket that contains an object.
func bucketOf(arn string) string {
	bucket, _, _ := strings.Cut(arn, "/")
	return bucket
}

// tls returns the condition keys of a request by TLS.
func tls() map[string][]string { return map[string][]string{"aws:SecureTransport": {"true"}} }

// encryptionContextOf returns the encryption context in the headers of an upload.
func encryptionContextOf(header http.Header) map[string]string {
	var pairs map[string]string
	data, err := base64.StdEncoding.DecodeString(header.Get("x-amz-server-side-encryption-context"))
	if err == nil {
		err = json.Unmarshal(data, &pairs)
	}
	if err != nil {
		return nil // the client gets an answer that the repository does not exist
	}
	return pairs
}
