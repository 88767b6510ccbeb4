package awstest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// buckets is the fake S3 of an account.
type buckets struct{ *Account }

// A bucket is an S3 bucket, with all versions of its objects.
type bucket struct {
	versioned, closed bool
	kms               bool
	objects           map[string][]object
}

type object struct {
	content []byte
	version string
}

// Objects returns the names of all objects of a bucket, sorted, each as often as it was written.
func (a *Account) Objects(name string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	if b := a.buckets[name]; b != nil {
		for key, versions := range b.objects {
			out = append(out, slices.Repeat([]string{key}, len(versions))...)
		}
	}
	slices.Sort(out)
	return out
}

// Swap replaces the content of each object with a name that ends in a suffix, as somebody who may
// write into the bucket can.
func (a *Account) Swap(name, suffix, content string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.buckets[name].objects {
		if strings.HasSuffix(key, suffix) {
			a.put(name, key, []byte(content))
		}
	}
}

// Loosen turns off versioning and encryption of each bucket of a stack, and allows public access.
func (a *Account) Loosen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range a.buckets {
		if b.kms {
			*b = bucket{objects: b.objects}
		}
	}
}

// put writes an object and returns its version.
func (a *Account) put(name, key string, content []byte) string {
	b := a.buckets[name]
	version := "v" + fmt.Sprint(len(b.objects[key])+1)
	b.objects[key] = append(b.objects[key], object{content, version})
	return version
}

// read returns a version of an object, nil if there is none.
func (a *Account) read(name, key, version string) []byte {
	if b := a.buckets[name]; b != nil {
		for _, o := range b.objects[key] {
			if o.version == version {
				return o.content
			}
		}
	}
	return nil
}

// s3Action returns IAM's name of a request.
func s3Action(r *http.Request, key string) string {
	q := r.URL.Query()
	switch {
	case key != "":
		return map[string]string{"HEAD": "s3:GetObject", "GET": "s3:GetObject", "PUT": "s3:PutObject"}[r.Method]
	case q.Has("versioning"):
		return map[string]string{"GET": "s3:GetBucketVersioning", "PUT": "s3:PutBucketVersioning"}[r.Method]
	case q.Has("encryption"):
		return "s3:GetEncryptionConfiguration"
	case q.Has("publicAccessBlock"):
		return map[string]string{"GET": "s3:GetBucketPublicAccessBlock", "PUT": "s3:PutBucketPublicAccessBlock"}[r.Method]
	}
	return map[string]string{"HEAD": "s3:ListBucket", "PUT": "s3:CreateBucket"}[r.Method]
}

// serve answers requests to S3, with paths /BUCKET/KEY.
func (a buckets) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	action := s3Action(r, key)
	p := a.may(action, strings.TrimSuffix("arn:aws:s3:::"+name+"/"+key, "/"))
	if p == nil && slices.Contains(a.Foreign, name) && (r.Header.Get("X-Amz-Expected-Bucket-Owner") == ID || action == "s3:CreateBucket") {
		p = &problem{http.StatusForbidden, "AccessDenied", "Access Denied"}
		if action == "s3:CreateBucket" {
			p = &problem{http.StatusConflict, "BucketAlreadyExists", "The requested bucket name is not available."}
		}
	}
	if p == nil && action != "s3:CreateBucket" && a.buckets[name] == nil {
		p = &problem{http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"}
	}
	if p == nil {
		p = a.onBucket(w, r, action, name, key, body)
	}
	switch {
	case p == nil && a.drop(action):
		hangUp(w)
	case p != nil:
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(p.status)
		if r.Method != http.MethodHead {
			fmt.Fprint(w, "<Error>", tagged("Code", p.code), tagged("Message", p.message), "</Error>")
		}
	}
}

func (a buckets) onBucket(w http.ResponseWriter, r *http.Request, action, name, key string, body []byte) *problem {
	b := a.buckets[name]
	w.Header().Set("Content-Type", "application/xml")
	switch action {
	case "s3:CreateBucket":
		return a.create(name, body)
	case "s3:ListBucket":
		w.Header().Set("X-Amz-Bucket-Region", Region)
	case "s3:GetBucketVersioning":
		status := ""
		if b.versioned {
			status = tagged("Status", "Enabled")
		}
		fmt.Fprint(w, "<VersioningConfiguration>", status, "</VersioningConfiguration>")
	case "s3:GetEncryptionConfiguration":
		by := "AES256"
		if b.kms {
			by = "aws:kms"
		}
		fmt.Fprint(w, "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>", tagged("SSEAlgorithm", by), "</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>")
	case "s3:PutBucketVersioning":
		b.versioned = strings.Contains(string(body), "<Status>Enabled<")
	case "s3:GetBucketPublicAccessBlock":
		if !b.closed {
			return &problem{http.StatusNotFound, "NoSuchPublicAccessBlockConfiguration", "The public access block configuration was not found"}
		}
		yes := func(name string) string { return tagged(name, "true") }
		fmt.Fprint(w, "<PublicAccessBlockConfiguration>", yes("BlockPublicAcls"), yes("IgnorePublicAcls"), yes("BlockPublicPolicy"), yes("RestrictPublicBuckets"), "</PublicAccessBlockConfiguration>")
	case "s3:PutBucketPublicAccessBlock":
		b.closed = strings.Count(string(body), ">true<") == 4
	case "s3:PutObject":
		w.Header().Set("X-Amz-Version-Id", a.put(name, key, plain(r, body)))
	case "s3:GetObject":
		versions := b.objects[key]
		if len(versions) == 0 {
			return &problem{http.StatusNotFound, "NoSuchKey", "The specified key does not exist."}
		}
		last := versions[len(versions)-1]
		sum := sha256.Sum256(last.content)
		w.Header().Set("X-Amz-Version-Id", last.version)
		w.Header().Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return nil
}

func (a buckets) create(name string, body []byte) *problem {
	if a.buckets[name] != nil {
		return &problem{http.StatusConflict, "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it."}
	}
	if !strings.Contains(string(body), "<LocationConstraint>"+Region+"<") {
		return &problem{http.StatusBadRequest, "IllegalLocationConstraintException", "The unspecified location constraint is incompatible for the region specific endpoint this request was sent to."}
	}
	a.buckets[name] = &bucket{objects: map[string][]object{}}
	return nil
}

// plain returns a body without the chunks of a stream with a checksum at its end.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
func plain(r *http.Request, body []byte) []byte {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return body
	}
	var out []byte
	for {
		head, rest, ok := strings.Cut(string(body), "\r\n")
		var n int
		if _, err := fmt.Sscanf(head, "%x", &n); !ok || err != nil || n == 0 || n+2 > len(rest) {
			return out
		}
		out, body = append(out, rest[:n]...), []byte(rest[n+2:])
	}
}
