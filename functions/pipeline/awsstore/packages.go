package awsstore

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Packages stores provider packages in the bucket of the artifacts, for package subprocess. A package may be
// used for all repositories. It is not secret, because it was downloaded without credentials.
type Packages struct {
	Client *s3.Client
	Bucket string
	KeyID  string // ID or ARN of the KMS key
}

// packagesPrefix is the folder with the packages in the bucket.
const packagesPrefix = "providers"

// addressTime is how long the address of a package is valid: longer than the installation of providers may
// take. The address becomes invalid earlier if the credentials expire with which it was signed.
const addressTime = 10 * time.Minute

// Address implements subprocess.Packages.
func (p Packages) Address(ctx context.Context, key string) (string, error) {
	req, err := s3.NewPresignClient(p.Client).PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &p.Bucket, Key: packageKey(key)}, s3.WithPresignExpires(addressTime))
	if err != nil {
		return "", fmt.Errorf("sign the address of the package %s: %w", key, err)
	}
	return req.URL, nil
}

// Keep implements subprocess.Packages.
func (p Packages) Keep(ctx context.Context, key string, f *os.File) error {
	_, err := p.Client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &p.Bucket, Key: packageKey(key), Body: f, ContentType: aws.String("application/zip"),
		ServerSideEncryption: types.ServerSideEncryptionAwsKms, SSEKMSKeyId: &p.KeyID,
		SSEKMSEncryptionContext: aws.String(packageContext(key)),
	}, patient)
	if err != nil {
		return fmt.Errorf("keep the package %s: %w", key, err)
	}
	return nil
}

// packageContext returns the encryption context of a package, which belongs to no repository. The policy of the
// KMS key requires the package's name in it.
func packageContext(key string) string {
	data, err := json.Marshal(map[string]string{"repository": "", "package": path.Base(key)})
	if err != nil {
		panic(fmt.Sprintf("awsstore: encode encryption context: %v", err))
	}
	return base64.StdEncoding.EncodeToString(data)
}

// packageKey returns the key of an object. It panics if the key is not a clean path.
func packageKey(key string) *string {
	if !fs.ValidPath(key) || key == "." {
		panic(fmt.Sprintf("awsstore: the key %q is not a path", key))
	}
	return aws.String(path.Join(packagesPrefix, key))
}
