package deploying

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// An artifactBucket is the bucket for the functions' code in an AWS account. Every request names the
// account: a bucket with the same name in another account is refused.
//
// An object's name contains the hash of its content. Lambda and CloudFormation read one version of each
// object. The name alone proves nothing: an object counts as uploaded only if its content has the right
// checksum.
type artifactBucket struct {
	Client          *s3.Client
	Bucket, Account string
	Region          string
}

// A depotPlace identifies one version of an object in the bucket.
type depotPlace struct{ Bucket, Key, Version string }

// httpStatus returns the HTTP status in an error; 0 if there was no answer.
func httpStatus(err error) int {
	var re *awshttp.ResponseError
	if errors.As(err, &re) {
		return re.HTTPStatusCode()
	}
	return 0
}

// Look reads whether the bucket exists, and its settings.
func (d artifactBucket) Look(ctx context.Context) (bucketFound, error) {
	head, err := d.Client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &d.Bucket, ExpectedBucketOwner: &d.Account})
	switch httpStatus(err) {
	case 0, http.StatusOK:
	case http.StatusNotFound:
		return bucketFound{}, nil
	case http.StatusForbidden:
		return bucketFound{There: true, Foreign: true}, nil
	case http.StatusMovedPermanently:
		return bucketFound{There: true, Elsewhere: "another region"}, nil
	}
	if err != nil {
		return bucketFound{}, fmt.Errorf("look for the bucket %s: %w", d.Bucket, err)
	}
	b := bucketFound{There: true}
	if region := aws.ToString(head.BucketRegion); region != "" && region != d.Region {
		b.Elsewhere = region
		return b, nil
	}
	versioning, err := d.Client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &d.Bucket, ExpectedBucketOwner: &d.Account})
	if err != nil {
		return b, fmt.Errorf("ask whether the bucket %s has versions: %w", d.Bucket, err)
	}
	b.Versioned = versioning.Status == types.BucketVersioningStatusEnabled
	b.Closed, err = d.closed(ctx)
	return b, err
}

// closed reports whether all four public access blocks of the bucket are set.
func (d artifactBucket) closed(ctx context.Context) (bool, error) {
	out, err := d.Client.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: &d.Bucket, ExpectedBucketOwner: &d.Account})
	switch {
	case httpStatus(err) == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("ask whether the bucket %s is closed to the public: %w", d.Bucket, err)
	}
	x := out.PublicAccessBlockConfiguration
	return x != nil && aws.ToBool(x.BlockPublicAcls) && aws.ToBool(x.IgnorePublicAcls) && aws.ToBool(x.BlockPublicPolicy) && aws.ToBool(x.RestrictPublicBuckets), nil
}

// underKMS reports whether the bucket encrypts with a KMS key.
func (d artifactBucket) underKMS(ctx context.Context) (bool, error) {
	got, err := d.Client.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: &d.Bucket, ExpectedBucketOwner: &d.Account})
	if err != nil {
		return false, fmt.Errorf("ask how the bucket %s encrypts: %w", d.Bucket, err)
	}
	for _, r := range got.ServerSideEncryptionConfiguration.Rules {
		if by := r.ApplyServerSideEncryptionByDefault; by != nil && by.SSEAlgorithm == types.ServerSideEncryptionAwsKms {
			return true, nil
		}
	}
	return false, nil
}

// make creates the bucket, unless exists is set. In both cases it then sets the bucket's settings.
func (d artifactBucket) make(ctx context.Context, exists bool) error {
	if !exists {
		in := &s3.CreateBucketInput{Bucket: &d.Bucket}
		if d.Region != "us-east-1" { // us-east-1 must not be named
			in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(d.Region)}
		}
		_, err := d.Client.CreateBucket(ctx, in)
		var mine *types.BucketAlreadyOwnedByYou
		if err != nil && !errors.As(err, &mine) {
			return fmt.Errorf("make the bucket %s: %w", d.Bucket, err)
		}
	}
	yes := aws.Bool(true)
	_, err := d.Client.PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{
		Bucket: &d.Bucket, ExpectedBucketOwner: &d.Account,
		PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{BlockPublicAcls: yes, IgnorePublicAcls: yes, BlockPublicPolicy: yes, RestrictPublicBuckets: yes},
	})
	if err != nil {
		return fmt.Errorf("close the bucket %s to the public: %w", d.Bucket, err)
	}
	_, err = d.Client.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket: &d.Bucket, ExpectedBucketOwner: &d.Account, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		return fmt.Errorf("have the bucket %s keep versions: %w", d.Bucket, err)
	}
	return nil
}

// depotKey returns the name of the object for a file with the given name and content.
func depotKey(name string, content []byte) string {
	sum := sha256.Sum256(content)
	return "lockstep/" + hex.EncodeToString(sum[:]) + "/" + name
}

func depotChecksum(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Find returns the place of the object with the given name and content. ok is false if there is no such
// object, or if an object with that name has another content.
func (d artifactBucket) Find(ctx context.Context, name string, content []byte) (at depotPlace, ok bool, err error) {
	key := depotKey(name, content)
	head, err := d.Client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &d.Bucket, Key: &key, ExpectedBucketOwner: &d.Account, ChecksumMode: types.ChecksumModeEnabled})
	if httpStatus(err) == http.StatusNotFound {
		return depotPlace{}, false, nil
	}
	if err != nil {
		return depotPlace{}, false, fmt.Errorf("look for %s in the bucket %s: %w", name, d.Bucket, err)
	}
	if aws.ToString(head.ChecksumSHA256) != depotChecksum(content) || head.VersionId == nil {
		return depotPlace{}, false, nil
	}
	return depotPlace{d.Bucket, key, *head.VersionId}, true, nil
}

// Put uploads an object. S3 refuses it if its content is changed on the way.
func (d artifactBucket) Put(ctx context.Context, name string, content []byte) (depotPlace, error) {
	key := depotKey(name, content)
	out, err := d.Client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &d.Bucket, Key: &key, ExpectedBucketOwner: &d.Account, Body: bytes.NewReader(content),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256, ChecksumSHA256: aws.String(depotChecksum(content)),
	})
	if err != nil {
		return depotPlace{}, fmt.Errorf("upload %s to the bucket %s: %w", name, d.Bucket, err)
	}
	if out.VersionId == nil {
		return depotPlace{}, fmt.Errorf("upload %s: the bucket %s keeps no versions", name, d.Bucket)
	}
	return depotPlace{d.Bucket, key, *out.VersionId}, nil
}
