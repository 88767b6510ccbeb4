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

// follow returns what S3 asks of KMS in the name of whoever made a call: a data key for what is put, and to
// decrypt that of what is read. Objects of the template's bucket have the key and the encryption
// context of their upload, and those of the bucket of states its default key, if it has one.
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
	if c.Action == "s3:PutObject" {
		s.seals(c.Resource, throughS3("kms:Decrypt", header.Get("x-amz-server-side-encryption-aws-kms-key-id"), encryptionContextOf(header)))
	}
	sealed, ok := s.sealed[c.Resource]
	if !ok {
		return nil
	}
	sealed.Action = action
	return []templates.Call{sealed}
}

// seals notes under which key an object is. The caller has the mutex.
func (s *Stack) seals(object string, c templates.Call) {
	if s.sealed == nil {
		s.sealed = map[string]templates.Call{}
	}
	s.sealed[object] = c
}

// throughS3 is a call of S3's to KMS.
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

// s3Context returns the condition keys that S3 makes of a request. It counts as one by TLS, which
// AWS would have been asked by, and the runner's servers do not speak.
// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
func s3Context(header http.Header) map[string][]string {
	out := tls()
	for _, name := range []string{"x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id"} {
		if v := header.Get(name); v != "" {
			out["s3:"+name] = []string{v}
		}
	}
	return out
}

// bucketOf returns the ARN of the bucket that an object is in.
func bucketOf(arn string) string {
	bucket, _, _ := strings.Cut(arn, "/")
	return bucket
}

// tls is the context of a request by TLS.
func tls() map[string][]string { return map[string][]string{"aws:SecureTransport": {"true"}} }

// encryptionContextOf is what an upload says of whose it is.
func encryptionContextOf(header http.Header) map[string]string {
	var pairs map[string]string
	data, err := base64.StdEncoding.DecodeString(header.Get("x-amz-server-side-encryption-context"))
	if err == nil {
		err = json.Unmarshal(data, &pairs)
	}
	if err != nil {
		return nil // whoever asks for the repository finds none
	}
	return pairs
}
