package demo

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// smallS3 is an S3 in memory, as the hub is a small GitHub. All worlds of this process share it, each with a bucket of its
// own, since a process has one address of S3.
var smallS3 struct {
	server statebackendtest.S3
	open   sync.Once
	err    error
}

// credentials are for the small S3, which asks nobody for them.
var credentials = []string{"AWS_ACCESS_KEY_ID=demo", "AWS_SECRET_ACCESS_KEY=demo", "AWS_REGION=eu-west-1"}

// s3For empties a bucket of the small S3, and has this process use that for its states. It returns the environment of providers
// who may read them.
func s3For(bucket string) (environment []string, err error) {
	smallS3.open.Do(func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			smallS3.err = err
			return
		}
		go (&http.Server{Handler: &smallS3.server, ReadHeaderTimeout: 10 * time.Second}).Serve(l)
		for _, kv := range append(credentials, "AWS_ENDPOINT_URL_S3=http://"+l.Addr().String()) {
			name, value, _ := strings.Cut(kv, "=")
			if err := os.Setenv(name, value); err != nil && smallS3.err == nil {
				smallS3.err = fmt.Errorf("set the environment for states in S3: %w", err)
			}
		}
	})
	for _, path := range smallS3.server.Keys() {
		if strings.HasPrefix(path, bucket+"/") {
			smallS3.server.SetObject(path, nil)
		}
	}
	return credentials, smallS3.err
}
