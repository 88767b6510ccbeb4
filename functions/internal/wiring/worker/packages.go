package worker

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/ranged"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
)

// packages gives the function's process access to the store of provider packages. An error of the store stops
// no run: the package is then downloaded from its registry.
type packages struct {
	awsstore.Packages
	keeps bool // the function's role may write
	log   *slog.Logger
}

// openPackages returns the store of provider packages; nil if packages come only from a mirror.
func openPackages(f wiring.Function, w *wiring.World) subprocess.Packages {
	if w.Mirror != "" {
		return nil
	}
	return packages{
		awsstore.Packages{Client: s3.NewFromConfig(w.AWS), Bucket: w.Bucket, KeyID: w.Key}, f == wiring.Plan, w.Log,
	}
}

// Address implements subprocess.Packages.
func (p packages) Address(ctx context.Context, name subprocess.PackageName) (string, error) {
	k, err := kept(name)
	if err != nil {
		return "", err
	}
	return p.Packages.Address(ctx, k.Key())
}

// Keep implements subprocess.Packages.
func (p packages) Keep(ctx context.Context, name subprocess.PackageName, f *os.File) error {
	k, err := kept(name)
	if err != nil || !p.keeps {
		return err
	}
	if err := p.Packages.Keep(ctx, k.Key(), f); err != nil {
		p.log.Warn("could not store a provider's package; the next run downloads it again", "package", k.Key(), "error", err.Error())
		return err
	}
	p.log.Info("stored a provider's package for later runs", "package", k.Key())
	return nil
}

// kept parses the name of a package, from which the key of an artifact is made. A name that is not normalized
// is an error.
func kept(name subprocess.PackageName) (k install.Kept, err error) {
	if k.Provider, err = addrs.ParseProvider(name.Provider); err != nil {
		return k, err
	}
	if k.Version, err = constraint.ParseVersion(name.Version); err != nil {
		return k, err
	}
	if k.Platform, err = install.ParsePlatform(name.Platform); err != nil {
		return k, err
	}
	if nameOf(k) != name {
		return k, errors.New("the name of the package has not its normal form")
	}
	return k, nil
}

func nameOf(k install.Kept) subprocess.PackageName {
	return subprocess.PackageName{Provider: k.Provider.String(), Version: k.Version.String(), Platform: k.Platform.String()}
}

// A store gives the process of a run access to the store of provider packages.
type store struct{ *subprocess.Child }

// archive returns a stored package. It has the type of the field Store of an [install.Installer].
func (s store) archive(ctx context.Context, k install.Kept) (install.Package, error) {
	url, err := s.Package(ctx, nameOf(k))
	if err != nil {
		return install.Package{}, err
	}
	return install.Package{Provider: k.Provider, Version: k.Version, Remote: func(ctx context.Context) (install.Archive, error) {
		return ranged.Open(ctx, http.DefaultClient, url)
	}}, nil
}

// keep stores a package. It has the type of the field Keep of an [install.Installer]. If keep fails, the
// function's log contains the reason.
func (s store) keep(ctx context.Context, k install.Kept) { _ = s.Keep(ctx, nameOf(k), k.Path) }
