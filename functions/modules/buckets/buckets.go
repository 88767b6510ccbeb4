// Package buckets fetches modules from S3 and from compatible servers: archives, and the files below a prefix.
// It does not know whose credentials it uses. Start reading at [Getter].
package buckets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	getter "github.com/hashicorp/go-getter/v2"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A Getter fetches modules from S3: a module is an archive, or all files below a prefix. Source, which also
// describes the addresses: https://developer.hashicorp.com/terraform/language/modules/sources#s3-bucket
type Getter struct {
	Policy hosts.Policy
	Limits getting.Limits
	// Config returns the credentials and the region for reading an object. q is the query of the object's
	// address. If Config returns an error, the object is not read.
	Config func(ctx context.Context, o Object, q url.Values) (aws.Config, error)
}

// Detect implements getting.Getter.
func (g Getter) Detect(req *getting.Request) (bool, error) { return req.Forced == "s3", nil }

// Mode implements getting.Getter.
func (g Getter) Mode(context.Context, *url.URL) (getter.Mode, error) { return getter.ModeDir, nil }

// An Object is what an address in S3 names: an archive, or the prefix of a module's files.
type Object struct {
	Region, Bucket string
	Endpoint       string // "" for Amazon's own
	key, version   string
}

// parseObject parses the address of a module in S3. If the host belongs to Amazon, it contains the region and
// perhaps the bucket. Otherwise, the path contains the bucket, and the query the region.
func parseObject(u *url.URL) (Object, error) {
	o := Object{version: u.Query().Get("version")}
	rest := strings.TrimPrefix(u.Path, "/")
	if host, ok := strings.CutSuffix(strings.TrimSuffix(u.Hostname(), ".cn"), ".amazonaws.com"); ok {
		labels := strings.Split(host, ".")
		switch last := labels[len(labels)-1]; {
		case last == "s3":
			o.Region = "us-east-1"
		case strings.HasPrefix(last, "s3-"):
			o.Region = strings.TrimPrefix(last, "s3-")
		default:
			o.Region = last
			labels = labels[:len(labels)-1]
			if len(labels) == 0 || labels[len(labels)-1] != "s3" {
				return o, errors.New("the host is not one of S3's")
			}
		}
		o.Bucket = strings.Join(labels[:len(labels)-1], ".")
	} else {
		o.Endpoint = u.Scheme + "://" + u.Host
		o.Region = u.Query().Get("region")
		if o.Region == "" {
			o.Region = "us-east-1"
		}
	}
	if o.Bucket == "" {
		o.Bucket, rest, _ = strings.Cut(rest, "/")
	}
	if o.key = rest; o.Bucket == "" || o.key == "" {
		return o, errors.New("the address must name a bucket and a key, as in s3::https://s3-eu-west-1.amazonaws.com/BUCKET/KEY.zip")
	}
	return o, nil
}

func (g Getter) open(ctx context.Context, u *url.URL) (*awss3.Client, Object, error) {
	if err := g.Policy.CheckURL(u); err != nil {
		return nil, Object{}, err
	}
	o, err := parseObject(u)
	if err != nil {
		return nil, o, err
	}
	config, err := g.Config(ctx, o, u.Query())
	if err != nil {
		return nil, o, err
	}
	return awss3.NewFromConfig(config, func(c *awss3.Options) {
		c.HTTPClient = &http.Client{Transport: g.Policy.Transport()}
		if o.Endpoint != "" {
			c.BaseEndpoint, c.UsePathStyle = aws.String(o.Endpoint), true
		}
	}), o, nil
}

// GetFile fetches one object.
func (g Getter) GetFile(ctx context.Context, req *getting.Request) error {
	client, o, err := g.open(ctx, req.URL())
	if err != nil {
		return err
	}
	_, err = g.object(ctx, client, o, req.Dst, g.Limits.Archive)
	return err
}

// Get fetches all objects below a prefix.
func (g Getter) Get(ctx context.Context, req *getting.Request) error {
	client, o, err := g.open(ctx, req.URL())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(req.Dst, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(req.Dst)
	if err != nil {
		return err
	}
	defer root.Close()
	prefix := strings.TrimSuffix(o.key, "/") + "/"
	pages := awss3.NewListObjectsV2Paginator(client, &awss3.ListObjectsV2Input{Bucket: &o.Bucket, Prefix: &prefix})
	files, left := 0, g.Limits.Bytes
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return reason(err, o)
		}
		for _, x := range page.Contents {
			name := strings.TrimPrefix(*x.Key, prefix)
			if name == "" || strings.HasSuffix(name, "/") {
				continue // the markers of directories that consoles create
			}
			if files++; files > g.Limits.Files {
				return fmt.Errorf("there are more than %d objects below %s", g.Limits.Files, prefix)
			}
			if !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(name, `\`) {
				return fmt.Errorf("the object %q has a name that leads out of the module", *x.Key)
			}
			if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
				return err
			}
			n, err := g.object(ctx, client, Object{Bucket: o.Bucket, key: *x.Key}, filepath.Join(req.Dst, filepath.FromSlash(name)), left)
			if err != nil {
				return err
			}
			left -= n
		}
	}
	if files == 0 {
		return fmt.Errorf("bucket %s has no object %s, and none below it", o.Bucket, o.key)
	}
	return nil
}

// object downloads one object to the file to. It returns the size. An object of more than limit bytes is an
// error.
func (g Getter) object(ctx context.Context, client *awss3.Client, o Object, to string, limit int64) (int64, error) {
	in := &awss3.GetObjectInput{Bucket: &o.Bucket, Key: &o.key}
	if o.version != "" {
		in.VersionId = &o.version
	}
	out, err := client.GetObject(ctx, in)
	if err != nil {
		return 0, reason(err, o)
	}
	defer out.Body.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return 0, err
	}
	f, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, io.LimitReader(out.Body, limit+1))
	if err = errors.Join(err, f.Close()); err == nil && n > limit {
		err = fmt.Errorf("the object %s has more than %d bytes, which are left for a module", o.key, limit)
	}
	return n, err
}

// reason returns an error of S3 without the details of the request, such as its ID.
func reason(err error, o Object) error {
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return err
	}
	text := answer.ErrorCode()
	if m := answer.ErrorMessage(); m != "" {
		text += ": " + strings.TrimSuffix(m, ".")
	}
	return fmt.Errorf("S3 refuses %s in bucket %s: %s", o.key, o.Bucket, text)
}
