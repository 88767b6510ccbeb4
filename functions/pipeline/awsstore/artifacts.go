package awsstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Artifacts implements pipeline.Artifacts with a bucket in S3. Each artifact is an object, which is encrypted
// with a KMS key. The encryption context is the artifact's repository, pull request and SHA. So a key policy
// can say whose artifacts a role may read, and CloudTrail shows these three with each use of the key.
//
// Writes are unconditional. A key is only written by one attempt of one run. If this attempt is repeated, it
// replaces the object.
type Artifacts struct {
	Client *s3.Client
	Bucket string
	KeyID  string // ID or ARN of the KMS key
}

// Put implements pipeline.Artifacts.
func (a Artifacts) Put(ctx context.Context, x pipeline.Artifact, data []byte) error {
	sum := sha256.Sum256(data)
	_, err := a.Client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &a.Bucket, Key: objectKey(x), Body: bytes.NewReader(data),
		ContentType: aws.String("application/octet-stream"),
		// With this checksum, S3 refuses a body that was changed on the way.
		ChecksumSHA256:       aws.String(base64.StdEncoding.EncodeToString(sum[:])),
		ServerSideEncryption: types.ServerSideEncryptionAwsKms, SSEKMSKeyId: &a.KeyID,
		SSEKMSEncryptionContext: aws.String(encryptionContext(x)),
	}, patient)
	if err != nil {
		return fmt.Errorf("put artifact %s: %w", x.Key, err)
	}
	return nil
}

// Get implements pipeline.Artifacts.
func (a Artifacts) Get(ctx context.Context, x pipeline.Artifact) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		data, err := a.get(ctx, x)
		// The SDK repeats requests that failed. But it does not notice if the body of an answer ends too early
		// or has a wrong checksum.
		if errors.Is(err, errBroken) && attempt < 3 && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get artifact %s: %w", x.Key, err)
		}
		return data, nil
	}
}

var errBroken = errors.New("the answer broke off")

func (a Artifacts) get(ctx context.Context, x pipeline.Artifact) ([]byte, error) {
	out, err := a.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &a.Bucket, Key: objectKey(x), ChecksumMode: types.ChecksumModeEnabled})
	var missing *types.NoSuchKey
	if errors.As(err, &missing) {
		return nil, pipeline.ErrNoArtifact
	}
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return data, nil
}

// Delete implements pipeline.Artifacts.
func (a Artifacts) Delete(ctx context.Context, x pipeline.Artifact) error {
	if _, err := a.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &a.Bucket, Key: objectKey(x)}, patient); err != nil {
		return fmt.Errorf("delete artifact %s: %w", x.Key, err)
	}
	return nil
}

// patient makes the client repeat requests that S3 answers with 409, because another request for the same key
// is in progress: "conflicting operation ... try again". Source:
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#ErrorCodeList
func patient(o *s3.Options) {
	o.Retryer = retry.AddWithMaxAttempts(retry.AddWithErrorCodes(o.Retryer, "ConditionalRequestConflict", "OperationAborted"), 6)
}

// objectKey returns the key of an artifact's object. It panics if the key is not a clean path: such a key would
// be a bug in Lockstep.
func objectKey(x pipeline.Artifact) *string {
	if !fs.ValidPath(x.Key) || x.Key == "." {
		panic(fmt.Sprintf("awsstore: the key %q is not a path", x.Key))
	}
	return &x.Key
}

// encryptionContext returns the value of the header for the encryption context: the Base64 of a JSON object of
// strings. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html#encryption-context
func encryptionContext(x pipeline.Artifact) string {
	data, err := json.Marshal(map[string]string{"repository": x.Repo, "pull": strconv.Itoa(x.Number), "sha": x.SHA})
	if err != nil {
		panic(fmt.Sprintf("awsstore: encode encryption context: %v", err))
	}
	return base64.StdEncoding.EncodeToString(data)
}
