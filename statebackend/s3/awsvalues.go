package s3

import (
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
)

// certificates returns the root certificates of custom_ca_bundle. nil means the root certificates of the
// system.
func (c *Config) certificates() (*x509.CertPool, error) {
	if c.CustomCABundle == "" {
		return nil, nil
	}
	bundle, err := os.ReadFile(home(c.CustomCABundle))
	if err != nil {
		return nil, problem("custom_ca_bundle", err.Error())
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, problem("custom_ca_bundle", fmt.Sprintf("%s holds no certificate", c.CustomCABundle))
	}
	return pool, nil
}

func policyARNs(arns []string) []types.PolicyDescriptorType {
	var list []types.PolicyDescriptorType
	for _, arn := range arns {
		list = append(list, types.PolicyDescriptorType{Arn: aws.String(arn)})
	}
	return list
}

func tags(m map[string]string) []types.Tag {
	var list []types.Tag
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, types.Tag{Key: aws.String(key), Value: aws.String(m[key])})
	}
	return list
}

// atHome replaces a leading ~ in each path with the home directory.
func atHome(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = home(p)
	}
	return out
}

func home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, rest)
		}
	}
	return path
}
