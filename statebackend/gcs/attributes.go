package gcs

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Attributes are the attributes of a `backend "gcs"` block: all that Terraform 1.11 has.
var Attributes = []statebackend.Attribute{
	{Name: "access_token", Type: statebackend.String, Secret: true},
	{Name: "bucket", Type: statebackend.String, Required: true},
	{Name: "credentials", Type: statebackend.String, Secret: true},
	{Name: "encryption_key", Type: statebackend.String, Secret: true},
	{Name: "impersonate_service_account", Type: statebackend.String},
	{Name: "impersonate_service_account_delegates", Type: statebackend.StringSet},
	{Name: "kms_encryption_key", Type: statebackend.String},
	{Name: "prefix", Type: statebackend.String},
	{Name: "storage_custom_endpoint", Type: statebackend.String},
}

// values has the values of a backend block, by the names of its attributes.
type values struct {
	Bucket        string   `json:"bucket"`
	Prefix        string   `json:"prefix"`
	Credentials   string   `json:"credentials"`
	AccessToken   string   `json:"access_token"`
	Impersonate   string   `json:"impersonate_service_account"`
	Delegates     []string `json:"impersonate_service_account_delegates"`
	EncryptionKey string   `json:"encryption_key"`
	KMSKey        string   `json:"kms_encryption_key"`
	Endpoint      string   `json:"storage_custom_endpoint"`
}

// scope is the permission that credentials are asked for.
const scope = "https://www.googleapis.com/auth/devstorage.read_write"

// settle makes the client of a block. It takes missing values from the environment.
func settle(ctx context.Context, v values) (*objects, error) {
	if cmp.Or(v.Impersonate, os.Getenv("GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT"), os.Getenv("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT")) != "" || len(v.Delegates) > 0 {
		return nil, &statebackend.AttributeError{Attribute: "impersonate_service_account", Problem: "Lockstep does not support this attribute, nor GOOGLE_IMPERSONATE_SERVICE_ACCOUNT. Remove it, and run \"gcloud auth application-default login --impersonate-service-account=ACCOUNT\": the credentials that it writes are supported"}
	}
	o := &objects{bucket: v.Bucket, base: googleBase, attempts: 4, kms: cmp.Or(v.KMSKey, os.Getenv("GOOGLE_KMS_ENCRYPTION_KEY"))}
	if v.Bucket == "" || strings.ContainsAny(v.Bucket, "/?#") {
		return nil, &statebackend.AttributeError{Attribute: "bucket", Problem: "the name of a bucket is required, without gs:// and without a path"}
	}
	emulator := os.Getenv("STORAGE_EMULATOR_HOST")
	endpoint := cmp.Or(v.Endpoint, os.Getenv("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT"), os.Getenv("GOOGLE_STORAGE_CUSTOM_ENDPOINT"))
	if endpoint == "" && emulator != "" {
		if endpoint = emulator; !strings.Contains(emulator, "://") {
			endpoint = "http://" + emulator
		}
	}
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, &statebackend.AttributeError{Attribute: "storage_custom_endpoint", Problem: "an address such as https://HOST/storage/v1/ is required"}
		}
		o.base = u.Scheme + "://" + u.Host + strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/storage/v1")
	}
	if key := cmp.Or(v.EncryptionKey, os.Getenv("GOOGLE_ENCRYPTION_KEY")); key != "" {
		var err error
		if o.key, err = base64.StdEncoding.DecodeString(strings.TrimSpace(content(key))); err != nil || len(o.key) != 32 {
			return nil, &statebackend.AttributeError{Attribute: "encryption_key", Problem: "a key of 32 bytes in base64, or the path of a file with it, is required"}
		}
		if o.kms != "" {
			return nil, &statebackend.AttributeError{Attribute: "encryption_key", Problem: "it cannot be used together with kms_encryption_key: remove one of them"}
		}
	}
	transport := http.DefaultTransport
	token, err := tokens(ctx, v)
	if err != nil {
		return nil, err
	}
	if token == nil && emulator == "" {
		found, err := google.FindDefaultCredentials(ctx, scope)
		if err != nil {
			return nil, &statebackend.AttributeError{Problem: "there are no credentials for Google Cloud. Run \"gcloud auth application-default login\", or name a key file in GOOGLE_APPLICATION_CREDENTIALS or in the attribute credentials"}
		}
		token = found.TokenSource
	}
	if token != nil {
		transport = &oauth2.Transport{Source: oauth2.ReuseTokenSource(nil, token), Base: transport}
	}
	o.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // credentials, keys and states may only be sent to the address of the block
	}}
	return o, nil
}

// tokens returns the source of access tokens that the block or the environment names; nil if they name none.
func tokens(ctx context.Context, v values) (oauth2.TokenSource, error) {
	if given := cmp.Or(v.AccessToken, os.Getenv("GOOGLE_OAUTH_ACCESS_TOKEN")); given != "" {
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: given}), nil
	}
	given := cmp.Or(v.Credentials, os.Getenv("GOOGLE_BACKEND_CREDENTIALS"), os.Getenv("GOOGLE_CREDENTIALS"))
	if given == "" {
		return nil, nil
	}
	// The errors of this package and of the library may quote the key: none of them is shown.
	text := []byte(content(given))
	kind := struct {
		Type google.CredentialsType `json:"type"`
	}{}
	wrong := &statebackend.AttributeError{Attribute: "credentials", Problem: "the key of a service account (JSON), or the path of a file with it, is required"}
	if json.Unmarshal(text, &kind) != nil {
		return nil, wrong
	}
	c, err := google.CredentialsFromJSONWithType(ctx, text, kind.Type, scope)
	if err != nil {
		return nil, wrong
	}
	return c.TokenSource, nil
}

// content returns the content of the file with that path, or else the value itself.
func content(value string) string {
	path := value
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if data, err := os.ReadFile(path); err == nil {
		return string(data)
	}
	return value
}
