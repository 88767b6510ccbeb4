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

// Artifacts implements pipeline.Artifacts on an S3 bucket, with one object for each artifact. Objects are
// encrypted with a KMS key. The encryption context is the artifact's repository, pull request and SHA. So a key
// policy can say whose artifacts a role may read, and CloudTrail shows these three with each use of the key.
//
// Writing has no condition. A key belongs to one attempt of one run, and repeating that attempt replaces the
// object.
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
		// S3 refuses a body with another checksum.
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
		// The SDK repeats failed requests. But it does not notice an answer that breaks off in its body, or
		// that has another checksum.
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

// patient repeats requests that S3 answers with 409 while another request for the same key is under way:
// "conflicting operation ... try again". Source:
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#ErrorCodeList
func patient(o *s3.Options) {
	o.Retryer = retry.AddWithMaxAttempts(retry.AddWithErrorCodes(o.Retryer, "ConditionalRequestConflict", "OperationAborted"), 6)
}

// objectKey returns an artifact's key. It panics if the key is not a clean path, because only our own code
// makes keys.
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
