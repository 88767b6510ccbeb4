package s3

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// listed is one object in a server's listing.
type listed struct {
	key    string
	stored time.Time
}

// list returns the objects whose keys have the prefix, in the order of the keys. All listings of this package
// use list. If the server lists other keys, the error is a *statebackend.UnfitError: a missing key would count
// as a missing object, and be created again.
func (o *objects) list(ctx context.Context, prefix string) ([]listed, error) {
	in := &awss3.ListObjectsV2Input{Bucket: &o.bucket, Prefix: &prefix}
	var all []listed
	seen := map[string]bool{}
	for {
		page, err := o.client.ListObjectsV2(ctx, in)
		if err != nil {
			return nil, o.explain("list", prefix, err)
		}
		for _, object := range page.Contents {
			key := aws.ToString(object.Key)
			switch {
			case !strings.HasPrefix(key, prefix):
				return nil, o.unfitList("lists keys that were not asked for", fmt.Sprintf("Asked for keys that begin with %q, it lists %q.", prefix, key))
			case seen[key]:
				return nil, o.unfitList("lists keys twice", fmt.Sprintf("It lists %q in two places.", key))
			}
			seen[key] = true
			all = append(all, listed{key, aws.ToTime(object.LastModified)})
		}
		if !aws.ToBool(page.IsTruncated) {
			slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.key, b.key) })
			return all, nil
		}
		if next := aws.ToString(page.NextContinuationToken); next == "" || next == aws.ToString(in.ContinuationToken) {
			return nil, o.unfitList("cuts lists off", fmt.Sprintf("Its list of the keys that begin with %q is not complete, and it does not say how to get the rest.", prefix))
		}
		in.ContinuationToken = page.NextContinuationToken
	}
}

// encoded reports whether key is the escaped form of a key that ends with end.
func encoded(key, end string) bool {
	for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
		if plain, err := unescape(key); err == nil && plain != key && strings.HasSuffix(plain, end) {
			return true
		}
	}
	return false
}

// unfitList returns the error for a listing that cannot be relied on.
func (o *objects) unfitList(fault, reason string) error {
	return &statebackend.UnfitError{
		Place: o.server(), Fault: fault,
		Reason: reason + " Lockstep would take objects that it does not find for objects that do not exist, and make them again. Nothing was changed.",
		Remedy: "Use a server that answers ListObjectsV2 as Amazon S3 does. Some servers have an option or a newer version for that: rclone lists keys as they are since 1.76.",
	}
}

// server returns the name of the bucket and its server for messages about the server.
func (o *objects) server() string {
	if at := aws.ToString(o.client.Options().BaseEndpoint); at != "" {
		return "s3://" + o.bucket + " at " + at
	}
	return "s3://" + o.bucket
}
