package getting_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/oci"
	"github.com/lockstep-iac/lockstep/engine/oci/ocitest"
)

// ociGetters returns getters for a registry.
func ociGetters(s *ocitest.Server, policy hosts.Policy, c oci.Credentials) *getting.Getters {
	limits := getting.Limits{Files: 4, Bytes: 4000, Archive: 4500}
	client := &oci.Client{Policy: policy, Transport: s.Transport(), Credentials: c}
	return &getting.Getters{Policy: policy, Limits: limits, More: []getting.Getter{getting.OCI(client, limits)}}
}

func TestOCI(t *testing.T) {
	t.Parallel()
	for _, tls := range []bool{true, false} {
		s := ocitest.New(t, tls)
		pinned := s.Module("acme/net", "1.0", sourcetest.Zip(t, map[string]string{"main.tf": "# 1"}))
		s.Module("acme/net", "latest", sourcetest.Zip(t, map[string]string{"main.tf": "# 2", "sub/x.tf": ""}))
		s.Module("net", "1.0", sourcetest.Zip(t, map[string]string{"a.tf": ""}))
		at := "oci://" + s.Address()
		for address, want := range map[string]string{
			at + "/acme/net":                   "main.tf sub/x.tf",
			at + "/acme/net?tag=1.0":           "main.tf",
			at + "/acme/net?digest=" + pinned:  "main.tf",
			at + "/acme/net//sub":              "x.tf",
			at + "/acme/net//sub?tag=latest":   "x.tf",
			at + "/net?tag=1.0":                "a.tf",
			"oci::" + at + "/acme/net?tag=1.0": "main.tf",
		} {
			dir := filepath.Join(t.TempDir(), "a", "package")
			if err := ociGetters(s, hosts.Policy{}, nil).Fetch(t.Context(), address, dir); err != nil {
				t.Errorf("%s: %v", address, err)
			} else if got := list(t, dir); got != want {
				t.Errorf("%s: got %s, want %s", address, got, want)
			}
			if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
				t.Errorf("%s: left beside the package: %v, %v", address, left, err)
			}
		}
	}
}

// What a registry sends is checked before anybody reads it, and nothing of it stays after an error.
func TestOCIRefusals(t *testing.T) {
	t.Parallel()
	s := ocitest.New(t, true)
	good := sourcetest.Zip(t, map[string]string{"main.tf": ""})
	s.Module("slip", "1", sourcetest.Zip(t, map[string]string{"../../evil.tf": ""}))
	s.Module("many", "1", sourcetest.Zip(t, map[string]string{"a": "", "b": "", "c": "", "d": "", "e": ""}))
	s.Module("big", "1", sourcetest.Zip(t, map[string]string{"a": strings.Repeat("0", 5000)}))
	s.Module("fat", "1", make([]byte, 5000))
	s.Module("none", "1", []byte("no archive"))
	s.Module("empty", "1", nil)
	zip := s.Blob("types", oci.Zip, good)
	s.Manifest("types", "other", "application/vnd.example", zip)
	s.Manifest("types", "layer", ocitest.Module, s.Blob("types", "application/zip", good))
	s.Manifest("types", "two", ocitest.Module, zip, zip)
	s.Manifest("types", "zero", ocitest.Module)
	s.Index("types", "index", ocitest.Module)
	lying := zip
	lying.Size++
	s.Manifest("types", "size", ocitest.Module, lying)
	pinned := s.Module("pinned", "1", good)
	evil := s.Blob("types", oci.Zip, sourcetest.Zip(t, map[string]string{"evil1": ""}))
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasPrefix(r.URL.Path, "/v2/huge/"): // a gigabyte, if somebody reads it
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Content-Length", fmt.Sprint(1<<30))
			w.Header().Set("Docker-Content-Digest", pinned)
			zeros := make([]byte, 1<<20)
			for range 1 << 10 {
				if _, err := w.Write(zeros); err != nil {
					break
				}
			}
		case strings.HasPrefix(r.URL.Path, "/v2/endless/"): // the same without its length
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			zeros := make([]byte, 1<<20)
			for range 1 << 10 {
				if _, err := w.Write(zeros); err != nil {
					break
				}
			}
		case strings.HasPrefix(r.URL.Path, "/v2/pinned/manifests/"): // a manifest other than the one of the digest
			w.Header().Set("Docker-Content-Digest", pinned)
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			fmt.Fprintf(w, `{"schemaVersion":2,"artifactType":%q,"layers":[{"mediaType":"archive/zip","digest":%q,"size":%d}]}`, ocitest.Module, evil.Digest, evil.Size)
		case strings.HasPrefix(r.URL.Path, "/v2/blob/manifests/"):
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			fmt.Fprintf(w, `{"schemaVersion":2,"artifactType":%q,"layers":[{"mediaType":"archive/zip","digest":%q,"size":%d}]}`, ocitest.Module, zip.Digest, evil.Size)
		case strings.HasPrefix(r.URL.Path, "/v2/blob/blobs/"): // a package other than the one of the digest
			http.Redirect(w, r, "/v2/types/blobs/"+string(evil.Digest)+"?X-Amz-Signature=s3cretsig", http.StatusTemporaryRedirect)
		case strings.HasPrefix(r.URL.Path, "/v2/inline/manifests/"):
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			fmt.Fprintf(w, `{"schemaVersion":2,"artifactType":%q,"layers":[{"mediaType":"archive/zip","digest":%q,"size":%d}]}`, ocitest.Module, zip.Digest, zip.Size)
		case strings.HasPrefix(r.URL.Path, "/v2/inline/blobs/"):
			_, _ = w.Write(bytes.Repeat([]byte("x"), len(good)))
		case strings.HasPrefix(r.URL.Path, "/v2/digest/manifests/"):
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			fmt.Fprintf(w, `{"schemaVersion":2,"artifactType":%q,"layers":[{"mediaType":"archive/zip","digest":"sha256:../../../x","size":1}]}`, ocitest.Module)
		case strings.HasPrefix(r.URL.Path, "/v2/metadata/"):
			http.Redirect(w, r, "https://169.254.169.254/latest", http.StatusTemporaryRedirect)
		case strings.HasPrefix(r.URL.Path, "/v2/elsewhere/"):
			http.Redirect(w, r, "https://elsewhere.example.com/x?X-Amz-Signature=s3cretsig", http.StatusTemporaryRedirect)
		case strings.HasPrefix(r.URL.Path, "/v2/plain/"):
			http.Redirect(w, r, "http://elsewhere.example.com/x", http.StatusTemporaryRedirect)
		default:
			return false
		}
		return true
	}
	only := hosts.Policy{Host: func(name string) error {
		if name != "127.0.0.1" && name != "169.254.169.254" {
			return fmt.Errorf("the host %s is not allowed", name)
		}
		return nil
	}}
	at := "oci://" + s.Address()
	for address, want := range map[string]string{
		at + "/slip?tag=1":                        "entry contains '..'",
		at + "/many?tag=1":                        "too many files",
		at + "/big?tag=1":                         "larger than limit",
		at + "/fat?tag=1":                         "has 5000 bytes, and 4500 are allowed",
		at + "/none?tag=1":                        "not a valid zip file",
		at + "/empty?tag=1":                       "not a valid zip file",
		at + "/types?tag=other":                   `has the artifact type "application/vnd.example", and "application/vnd.opentofu.modulepkg" is needed`,
		at + "/types?tag=layer":                   "it has 1 (application/zip)",
		at + "/types?tag=two":                     "it has 2 (archive/zip, archive/zip)",
		at + "/types?tag=zero":                    "it has 0 (none)",
		at + "/types?tag=index":                   `and "application/vnd.oci.image.manifest.v1+json" is needed`,
		at + "/types?tag=size":                    "mismatch Content-Length",
		at + "/types?tag=9":                       "has no " + s.Address() + "/types:9",
		at + "/none-such":                         "has no " + s.Address() + "/none-such:latest",
		at + "/huge":                              "bytes, and 4194304 are allowed",
		at + "/endless":                           "",
		at + "/pinned?digest=" + pinned:           "sent another content than its digest promises",
		at + "/blob":                              "sent another content than its digest promises",
		at + "/inline":                            "sent another content than its digest promises",
		at + "/digest":                            "no valid digest",
		at + "/metadata":                          "no connection is made to the address 169.254.169.254",
		at + "/elsewhere":                         "the host elsewhere.example.com is not allowed",
		at + "/plain":                             "only https URLs are followed",
		at + "/types?tag=1&digest=" + pinned:      "remove one of them",
		at + "/types?digest=sha256:1":             "is not a digest",
		at + "/types?tag=../x":                    "is not a tag",
		at + "/types?tag=1&tag=2":                 `and not "tag"`,
		at + "/types?ref=1":                       `and not "ref"`,
		at + "/Types?tag=1":                       "is not the name of a repository",
		at + "/types:1":                           "is not the name of a repository",
		at:                                        "is not the name of a repository",
		"oci://user:s3cret@" + s.Address() + "/x": "must have no user",
		"oci://192.0.2.1/x":                       "the host 192.0.2.1 is not allowed",
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			err := ociGetters(s, only, nil).Fetch(t.Context(), address, filepath.Join(parent, "a", "package"))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("got %v, want %q", err, want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a secret is shown: %v", err)
			}
			if got := list(t, parent); got != "" {
				t.Errorf("left behind: %s", got)
			}
		})
	}
}

// Credentials go to the registry that they are for, and nowhere else.
func TestOCICredentials(t *testing.T) {
	t.Parallel()
	s := ocitest.New(t, true)
	s.Login = "user:s3cret"
	s.Module("net", "1", sourcetest.Zip(t, map[string]string{"main.tf": ""}))
	other := ocitest.New(t, true)
	var seen []string
	other.Before = func(w http.ResponseWriter, r *http.Request) bool {
		seen = append(seen, r.Header.Get("Authorization"))
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/v2/away/") {
			return false
		}
		http.Redirect(w, r, "https://"+other.Address()+"/v2/net/manifests/1", http.StatusTemporaryRedirect)
		return true
	}
	login := oci.Credentials(func(_ context.Context, host, repository string) (auth.Credential, error) {
		if host != s.Address() || repository == "closed" {
			return auth.EmptyCredential, nil
		}
		return auth.Credential{Username: "user", Password: "s3cret"}, nil
	})
	fetch := func(address string, c oci.Credentials) error {
		return ociGetters(s, hosts.Policy{}, c).Fetch(t.Context(), address, filepath.Join(t.TempDir(), "package"))
	}
	at := "oci://" + s.Address()
	if err := fetch(at+"/net?tag=1", login); err != nil {
		t.Error(err)
	}
	if err := fetch(at+"/net?tag=1", nil); err == nil || !strings.Contains(err.Error(), `demands other credentials for `+s.Address()+`/net: run "docker login `+s.Address()+`"`) {
		t.Error(err)
	}
	if err := fetch(at+"/closed?tag=1", login); err == nil || !strings.Contains(err.Error(), "demands other credentials for "+s.Address()+"/closed") {
		t.Errorf("a repository gets the credentials for another one of its registry: %v", err)
	}
	if err := fetch(at+"/away?tag=1", login); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
	if len(seen) == 0 || slices.ContainsFunc(seen, func(a string) bool { return a != "" }) {
		t.Errorf("the other host has got %q", seen)
	}
}
