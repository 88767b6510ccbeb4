package modules

import (
	"context"
	"errors"
	"net/url"

	getter "github.com/hashicorp/go-getter/v2"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
)

// noS3 refuses addresses in S3, which package functions/modules fetches for a person.
type noS3 struct{}

var errNoS3 = errors.New("S3 is not asked for modules here, for a pull request must not read with our rights: have the module in a repository on GitHub, in an archive behind https, or in a registry")

// Detect implements getting.Getter.
func (noS3) Detect(req *getting.Request) (bool, error) { return req.Forced == "s3", nil }

// Mode implements getting.Getter.
func (noS3) Mode(context.Context, *url.URL) (getter.Mode, error) { return getter.ModeDir, nil }

// GetFile implements getting.Getter.
func (noS3) GetFile(context.Context, *getting.Request) error { return errNoS3 }

// Get implements getting.Getter.
func (noS3) Get(context.Context, *getting.Request) error { return errNoS3 }
