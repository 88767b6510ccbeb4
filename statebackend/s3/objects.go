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

// objects are the objects of a bucket, with the conditions and the encryption of
// every request. It implements lockfile.Objects.
type objects struct {
	client      *awss3.Client
	bucket      string
	acl         string
	kmsKeyID    string
	encrypt     bool
	customerKey []byte // nil: none
	checksum    bool
}

// Get reads an object. Its entity tag is "" if there is none.
func (o *objects) Get(ctx context.Context, key string) (data []byte, tag string, err error) {
	for attempt := 1; ; attempt++ {
		data, tag, err = o.get(ctx, key)
		// The SDK repeats failed requests, but not one whose response breaks off
		// in the middle of its body.
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

// The pauses after a 409, the response of S3 while another conditional request on
// the same key is under way.
//
// Source: Amazon S3 User Guide, "How to prevent object overwrites with conditional
// writes", which demands a retry.
const (
	conflictAttempts   = 6
	firstConflictPause = 50 * time.Millisecond
)

// put replaces the object with that entity tag ("": creates the object, if it does
// not exist), and returns the new entity tag. The error wraps
// lockfile.ErrPrecondition if the object has another one.
func (o *objects) put(ctx context.Context, key string, data []byte, tag string) (string, error) {
	in := &awss3.PutObjectInput{
		Bucket:      &o.bucket,
		Key:         &key,
		Body:        bytes.NewReader(data),
		ContentType: aws.String("application/json"),
		ACL:         types.ObjectCannedACL(o.acl),
	}
	if tag == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &tag
	}
	if o.checksum {
		// Computed here, the checksum is a plain header. The SDK would send it as
		// a trailer, in an encoding that some servers do not support.
		sum := sha256.Sum256(data)
		in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(sum[:]))
	}
	switch {
	case o.encrypt && o.kmsKeyID != "":
		in.ServerSideEncryption = types.ServerSideEncryptionAwsKms
		in.SSEKMSKeyId = &o.kmsKeyID
	case o.encrypt && o.customerKey != nil:
		in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = o.customerKeyHeaders()
	case o.encrypt:
		in.ServerSideEncryption = types.ServerSideEncryptionAes256
	}
	for attempt, pause := 1, firstConflictPause; ; attempt, pause = attempt+1, 2*pause {
		out, err := o.client.PutObject(ctx, in)
		if err == nil {
			return aws.ToString(out.ETag), nil
		}
		if status(err) != http.StatusConflict || attempt == conflictAttempts || !wait(ctx, pause) {
			verb := "write"
			if tag == "" {
				verb = "create"
			}
			return "", o.explain(verb, key, err)
		}
		in.Body = bytes.NewReader(data)
	}
}

// Create writes an object if there is none.
func (o *objects) Create(ctx context.Context, key string, data []byte) error {
	_, err := o.put(ctx, key, data, "")
	return err
}

// Delete removes an object if it has the entity tag. If the server does not
// support that condition (S3 has it only since 2025), the object is deleted
// without it: the tag was read a moment ago.
func (o *objects) Delete(ctx context.Context, key, tag string) error {
	in := &awss3.DeleteObjectInput{Bucket: &o.bucket, Key: &key, IfMatch: &tag}
	_, err := o.client.DeleteObject(ctx, in)
	if status(err) == http.StatusNotImplemented {
		in.IfMatch = nil
		_, err = o.client.DeleteObject(ctx, in)
	}
	return o.explain("delete", key, err)
}

// customerKeyHeaders are the headers of server-side encryption with the user's own
// key, for reading as well as writing; nil without such a key.
func (o *objects) customerKeyHeaders() (algorithm, key, sum *string) {
	if !o.encrypt || o.customerKey == nil {
		return nil, nil, nil
	}
	md5sum := md5.Sum(o.customerKey)
	return aws.String("AES256"),
		aws.String(base64.StdEncoding.EncodeToString(o.customerKey)),
		aws.String(base64.StdEncoding.EncodeToString(md5sum[:]))
}

// ErrNoBucket is wrapped by errors of requests to a bucket that does not exist.
var ErrNoBucket = errors.New("S3 bucket does not exist")

// explain adds the operation and the object, and replaces the errors on which
// callers branch by ours.
func (o *objects) explain(verb, key string, err error) error {
	if err == nil {
		return nil
	}
	var api smithy.APIError
	code := ""
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	switch {
	case code == "NoSuchBucket":
		err = fmt.Errorf("%w: S3 bucket %q does not exist: make it, then try again: %w", ErrNoBucket, o.bucket, err)
	case status(err) == http.StatusMovedPermanently:
		err = fmt.Errorf("the bucket is in %s: %w", region(err), err)
	case status(err) == http.StatusPreconditionFailed,
		// If-Match for an object that does not exist. For a new object, 404 means that
		// something else is missing, such as the KMS key.
		(verb == "write" || verb == "delete") && status(err) == http.StatusNotFound && !strings.HasPrefix(code, "KMS."):
		err = fmt.Errorf("%w: %w", lockfile.ErrPrecondition, err)
	case status(err) == http.StatusForbidden:
		err = fmt.Errorf("%w: %w", statebackend.ErrDenied, err)
	}
	switch { // programs know these texts of the stock backend
	case verb == "list" && code == "NoSuchBucket":
		return err
	case verb == "list":
		return fmt.Errorf("unable to list objects in S3 bucket %q with prefix %q: %w", o.bucket, key, err)
	}
	return fmt.Errorf("%s s3://%s/%s: %w", verb, o.bucket, key, err)
}

// status is the HTTP status of an error, or 0.
func status(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// region is the bucket's region according to S3's redirection.
func region(err error) string {
	var response *awshttp.ResponseError
	if errors.As(err, &response) && response.Response != nil {
		if name := response.Response.Header.Get("X-Amz-Bucket-Region"); name != "" {
			return "the region " + name
		}
	}
	return "another region"
}

// wait pauses, and reports whether ctx is still alive.
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
