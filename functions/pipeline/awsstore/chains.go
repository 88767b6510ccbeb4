package awsstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/sync/errgroup"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Chains implements pipeline.Chains with one object for each record in a bucket. S3 refuses to write an object that
// exists. Who may delete objects, and until when nobody may, is a matter of the bucket: see its Object Lock.
type Chains struct {
	Client *s3.Client
	Bucket string
}

// Add implements pipeline.Chains.
func (c Chains) Add(ctx context.Context, chain string, n int, data []byte) error {
	sum := sha256.Sum256(data)
	_, err := c.Client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &c.Bucket, Key: aws.String(pipeline.LinkKey(chain, n)), Body: bytes.NewReader(data),
		ContentType: aws.String("application/json"), IfNoneMatch: aws.String("*"),
		// A bucket with Object Lock demands a checksum.
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum[:])),
	}, patient)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("record %d of %s: %w", n, chain, err)
	var answer *smithyhttp.ResponseError
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.HTTPStatusCode() {
	case http.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", pipeline.ErrConflict, err)
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return fmt.Errorf("%w: %w", pipeline.ErrRefused, err)
	}
	return err
}

// Link implements pipeline.Chains.
func (c Chains) Link(ctx context.Context, chain string, n int) ([]byte, error) {
	out, err := c.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.Bucket, Key: aws.String(pipeline.LinkKey(chain, n)), ChecksumMode: types.ChecksumModeEnabled}, patient)
	if missing := new(types.NoSuchKey); errors.As(err, &missing) {
		return nil, fmt.Errorf("record %d of %s: %w", n, chain, pipeline.ErrNoLink)
	}
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return io.ReadAll(out.Body)
}

// Last implements pipeline.Chains.
func (c Chains) Last(ctx context.Context, chain string, from int) (int, error) {
	pages := s3.NewListObjectsV2Paginator(c.Client, &s3.ListObjectsV2Input{Bucket: &c.Bucket, Prefix: aws.String(chain + "/"), StartAfter: aws.String(pipeline.LinkKey(chain, from))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx, patient)
		if err != nil {
			return 0, err
		}
		for _, o := range page.Contents {
			if at, n, ok := pipeline.LinkOf(aws.ToString(o.Key)); ok && at == chain {
				from = max(from, n)
			}
		}
	}
	return from, nil
}

// fetches is how many records Each reads at the same time.
const fetches = 16

// Each calls visit with each record, chain by chain and in the order of the numbers.
func (c Chains) Each(ctx context.Context, visit func(chain string, n int, data []byte) error) error {
	pages := s3.NewListObjectsV2Paginator(c.Client, &s3.ListObjectsV2Input{Bucket: &c.Bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx, patient)
		if err != nil {
			return err
		}
		records := make([][]byte, len(page.Contents))
		g, within := errgroup.WithContext(ctx)
		g.SetLimit(fetches)
		for i, o := range page.Contents {
			if chain, n, ok := pipeline.LinkOf(aws.ToString(o.Key)); ok {
				g.Go(func() (err error) {
					records[i], err = c.Link(within, chain, n)
					return err
				})
			}
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for i, o := range page.Contents {
			if chain, n, ok := pipeline.LinkOf(aws.ToString(o.Key)); ok {
				if err := visit(chain, n, records[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
