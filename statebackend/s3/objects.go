package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// objects accesses the objects of a bucket. It knows the conditions and the encryption of every request. It
// implements lockfile.Objects.
type objects struct {
	client      *awss3.Client
	bucket      string
	acl         string
	tags        string // the tags of all objects except locks, encoded as S3 expects them in a header; "" means none
	lockTags    string
	kmsKeyID    string
	encrypt     bool
	customerKey []byte // nil: none
	checksum    bool
	amazon      bool // the server's address is one of Amazon S3
	conditions  conditions
}

// Get reads an object. Its entity tag is "" if there is none.
func (o *objects) Get(ctx context.Context, key string) (data []byte, tag string, err error) {
	for attempt := 1; ; attempt++ {
		data, tag, err = o.get(ctx, key)
		// The SDK repeats failed requests, but not a request whose response breaks off in the middle of the
		// body.
		if !errors.Is(err, errBroken) || attempt == 3 || ctx.Err() != nil {
			return data, tag, o.explain("read", key, err)
		}
	}
}

var errBroken = errors.New("the answer broke off")

func (o *objects) get(ctx context.Context, key string) (data []byte, tag string, err error) {
	in := &awss3.GetObjectInput{Bucket: &o.bucket, Key: &key}
	in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = o.customerKeyHeaders()
	out, err := o.client.GetObject(ctx, in)
	var missing *types.NoSuchKey
	if errors.As(err, &missing) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer out.Body.Close()
	var buffer bytes.Buffer
	if n := aws.ToInt64(out.ContentLength); n > 0 && n < 1<<30 {
		buffer.Grow(int(n) + bytes.MinRead)
	}
	if _, err := io.Copy(&buffer, out.Body); err != nil {
		return nil, "", fmt.Errorf("%w: %w", errBroken, err)
	}
	tag = aws.ToString(out.ETag)
	if tag == "" {
		return nil, "", errors.New("the server sent no entity tag")
	}
	return buffer.Bytes(), tag, nil
}

// These are the pauses after a 409 with the code conflictCode. S3 sends this code while another conditional
// request for the same key is under way. Other servers send a 409 for other reasons, which do not go away.
//
// Source: Amazon S3 User Guide, "How to prevent object overwrites with conditional writes", which demands a
// retry.
const (
	conflictAttempts   = 6
	firstConflictPause = 50 * time.Millisecond
	conflictCode       = "ConditionalRequestConflict"
)

// ifNoneMatch is the condition that the object does not exist. Every other condition is an entity tag: the
// object must have it.
const ifNoneMatch = "*"

// Put replaces the object if it has that entity tag. With the tag "", it creates the object if it does not
// exist. Put returns the new entity tag. If the object has another tag, the error wraps
// lockfile.ErrPrecondition.
func (o *objects) Put(ctx context.Context, key string, data []byte, tag string) (string, error) {
	condition := tag
	if tag == "" {
		condition = ifNoneMatch
	}
	if o.conditions.looks.Load() {
		if err := o.look(ctx, key, tag); err != nil {
			return "", err
		}
		condition = ""
	}
	return o.write(ctx, key, data, condition)
}

// look checks by reading that the object has the entity tag; with the tag "", that there is no object. Unlike
// a condition of a write, look gives no protection from simultaneous writers.
func (o *objects) look(ctx context.Context, key, tag string) error {
	_, now, err := o.Get(ctx, key)
	if err == nil && now != tag {
		err = fmt.Errorf("write s3://%s/%s: %w", o.bucket, key, lockfile.ErrPrecondition)
	}
	return err
}

// write writes an object if the condition is true, and returns the new entity tag. The condition "" is always
// true.
func (o *objects) write(ctx context.Context, key string, data []byte, condition string) (string, error) {
	in := &awss3.PutObjectInput{
		Bucket:      &o.bucket,
		Key:         &key,
		Body:        bytes.NewReader(data),
		ContentType: aws.String("application/json"),
		ACL:         types.ObjectCannedACL(o.acl),
	}
	tags := o.tags
	if strings.HasSuffix(key, lockfile.Suffix) {
		tags = o.lockTags
	}
	in.Tagging = optional(tags)
	switch condition {
	case "":
	case ifNoneMatch:
		in.IfNoneMatch = &condition
	default:
		in.IfMatch = &condition
	}
	if o.checksum {
		// Computed here, the checksum is a plain header. The SDK would send it as
		// a trailer, in an encoding that some servers do not support.
		sum := sha256.Sum256(data)
		in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(sum[:]))
	}
	o.encryptionOf(in)
	for attempt, pause := 1, firstConflictPause; ; attempt, pause = attempt+1, 2*pause {
		out, err := o.client.PutObject(ctx, in)
		if err == nil {
			return aws.ToString(out.ETag), nil
		}
		if status(err) != http.StatusConflict || codeOf(err) != conflictCode || attempt == conflictAttempts || !wait(ctx, pause) {
			verb := "write"
			if condition == ifNoneMatch {
				verb = "create"
			}
			return "", o.explain(verb, key, err)
		}
		in.Body = bytes.NewReader(data)
	}
}

// encryptionOf sets the encryption headers of a write, as the backend block demands.
func (o *objects) encryptionOf(in *awss3.PutObjectInput) {
	switch {
	case o.encrypt && o.kmsKeyID != "":
		in.ServerSideEncryption = types.ServerSideEncryptionAwsKms
		in.SSEKMSKeyId = &o.kmsKeyID
	case o.encrypt && o.customerKey != nil:
		in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = o.customerKeyHeaders()
	case o.encrypt:
		in.ServerSideEncryption = types.ServerSideEncryptionAes256
	}
}

// Delete removes an object if it has the entity tag. If the server does not support that condition (S3 only
// since 2025), Delete reads the object, and then deletes it without the condition.
func (o *objects) Delete(ctx context.Context, key, tag string) error {
	if !o.conditions.looks.Load() {
		err := o.delete(ctx, key, tag)
		if status(err) != http.StatusNotImplemented {
			return err
		}
	}
	if err := o.look(ctx, key, tag); err != nil {
		return err
	}
	return o.delete(ctx, key, "")
}

// delete removes an object if it has the entity tag; with the tag "", always.
func (o *objects) delete(ctx context.Context, key, tag string) error {
	_, err := o.client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: &o.bucket, Key: &key, IfMatch: optional(tag)})
	return o.explain("delete", key, err)
}

// customerKeyHeaders returns the headers of server-side encryption with the user's own key, for reads and
// writes; nil without such a key.
func (o *objects) customerKeyHeaders() (algorithm, key, sum *string) {
	if !o.encrypt || o.customerKey == nil {
		return nil, nil, nil
	}
	md5sum := md5.Sum(o.customerKey)
	return aws.String("AES256"),
		aws.String(base64.StdEncoding.EncodeToString(o.customerKey)),
		aws.String(base64.StdEncoding.EncodeToString(md5sum[:]))
}

// ErrNoBucket is wrapped by the error of a request to a bucket that does not exist.
var ErrNoBucket = errors.New("S3 bucket does not exist")

// explain adds the operation and the object to an error. It replaces SDK errors that callers test for with
// errors of this repository.
func (o *objects) explain(verb, key string, err error) error {
	if err == nil {
		return nil
	}
	code := codeOf(err)
	switch {
	case code == "NoSuchBucket":
		err = fmt.Errorf("%w: S3 bucket %q does not exist: make it, then try again: %w", ErrNoBucket, o.bucket, err)
	case status(err) == http.StatusMovedPermanently:
		err = fmt.Errorf("the bucket is in %s: %w", region(err), err)
	case status(err) == http.StatusPreconditionFailed,
		// This is the answer to If-Match if the object does not exist. For a new object, 404 means that
		// something else is missing, such as the KMS key.
		(verb == "write" || verb == "delete") && status(err) == http.StatusNotFound && !strings.HasPrefix(code, "KMS."):
		err = fmt.Errorf("%w: %w", lockfile.ErrPrecondition, err)
	case status(err) == http.StatusForbidden:
		err = fmt.Errorf("%w: %w", statebackend.ErrDenied, err)
	}
	hint := certificateHint(err)
	switch { // other programs recognize these texts of the stock backend
	case verb == "list" && code == "NoSuchBucket":
		return err
	case verb == "list":
		return fmt.Errorf("unable to list objects in S3 bucket %q with prefix %q: %w%s", o.bucket, key, err, hint)
	}
	return fmt.Errorf("%s s3://%s/%s: %w%s", verb, o.bucket, key, err, hint)
}

// codeOf returns S3's code of an error, or "".
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// status returns the HTTP status of an error, or 0.
func status(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// region returns the name of the bucket's region, as S3's redirection gives it, in words for messages.
func region(err error) string {
	var response *awshttp.ResponseError
	if errors.As(err, &response) && response.Response != nil {
		if name := response.Response.Header.Get("X-Amz-Bucket-Region"); name != "" {
			return "the region " + name
		}
	}
	return "another region"
}

// wait pauses for d. It returns false if ctx ends before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// taggingOf returns tags in the form of the header x-amz-tagging.
func taggingOf(tags map[string]string) string {
	values := url.Values{}
	for name, value := range tags {
		values.Set(name, value)
	}
	return values.Encode()
}
