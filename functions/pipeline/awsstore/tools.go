package awsstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Tools is the toolbox of a deployment: a bucket with the programs of steps, each under the SHA-256 checksum of its
// file. Functions only read it. The user of a file compares its checksum.
type Tools struct {
	Client *s3.Client
	Bucket string
	// Dir is the directory for downloaded tools; Path makes it.
	Dir string
}

// toolsPrefix is the folder with the tools in the bucket.
const toolsPrefix = "tools/"

// Path returns the path of a tool's file on this machine. ok is false if the toolbox does not have the tool. digest is
// the checksum in hexadecimal digits.
func (t Tools) Path(ctx context.Context, digest string) (path string, ok bool, err error) {
	path = filepath.Join(t.Dir, filepath.Base(digest))
	if _, err := os.Stat(path); err == nil {
		return path, true, nil
	}
	key := toolsPrefix + digest
	out, err := t.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &t.Bucket, Key: &key}, patient)
	if missing := new(types.NoSuchKey); errors.As(err, &missing) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("download the tool %s: %w", digest, err)
	}
	defer out.Body.Close()
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return "", false, err
	}
	f, err := os.CreateTemp(t.Dir, "download-*")
	if err != nil {
		return "", false, err
	}
	defer os.Remove(f.Name())
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), out.Body)
	if err := errors.Join(err, f.Chmod(0o700), f.Close()); err != nil {
		return "", false, fmt.Errorf("download the tool %s: %w", digest, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != digest {
		path += "-wrong" // the next call downloads it again: somebody may have replaced it
	}
	return path, true, os.Rename(f.Name(), path)
}

// Keep stores a tool.
func (t Tools) Keep(ctx context.Context, digest string, f *os.File) error {
	key := toolsPrefix + digest
	if _, err := t.Client.PutObject(ctx, &s3.PutObjectInput{Bucket: &t.Bucket, Key: &key, Body: f}, patient); err != nil {
		return fmt.Errorf("store the tool in the bucket %s: %w", t.Bucket, err)
	}
	return nil
}
