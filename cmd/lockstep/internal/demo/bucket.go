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

// smallS3 is a fake S3 server in memory. All worlds of this process share it, because a process has one S3
// address. Each world has its own bucket.
var smallS3 struct {
	server statebackendtest.S3
	open   sync.Once
	err    error
}

// credentials are environment variables for the fake S3 server, which does not check them.
var credentials = []string{"AWS_ACCESS_KEY_ID=demo", "AWS_SECRET_ACCESS_KEY=demo", "AWS_REGION=eu-west-1"}

// s3For creates an empty bucket in the fake S3 server, and makes this process use the server for states. It
// returns the environment with which providers can read these states.
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
