package install_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

func TestBuiltInProviders(t *testing.T) {
	s := newSite(t)
	result := s.init("terraform.io/builtin/terraform")
	if len(s.events) != 1 || s.events[0] != "- terraform.io/builtin/terraform is built in to Lockstep" {
		t.Error(s.events)
	}
	if result.Changed || len(result.Selections) > 0 {
		t.Errorf("got %+v", result)
	}
	if _, err := os.Stat(s.path(lockfile.Name)); err == nil {
		t.Error("a lock file was made for nothing")
	}
	for require, want := range map[string]string{
		"terraform.io/builtin/terraform 1.0": "its version cannot be constrained",
		"terraform.io/builtin/other":         `There is no built-in provider "other"`,
	} {
		_, ds := s.ensure(install.Request{Requirements: requirements(t, require)})
		if len(ds) != 1 || ds[0].Summary != "Invalid dependency on built-in provider" || !strings.Contains(ds[0].Detail, want) {
			t.Error(ds)
		}
	}
}

func TestUnmanagedProvidersAreLeftAlone(t *testing.T) {
	s := newSite(t)
	legacy := addrs.Provider{Host: addrs.DefaultRegistryHost, Namespace: addrs.LegacyNamespace, Type: "time"}
	result, ds := s.ensure(install.Request{
		Requirements: install.Requirements{legacy: nil, addrs.DefaultProvider("time"): nil},
		Unmanaged:    map[addrs.Provider]bool{legacy: true, addrs.DefaultProvider("time"): true},
	})
	if len(ds) > 0 || result.Changed || len(result.Selections) > 0 || len(s.events) > 0 {
		t.Errorf("%v %+v %v", ds, result, s.events)
	}
	// Nobody else can be called so.
	if _, ds = s.ensure(install.Request{Requirements: install.Requirements{legacy: nil}}); len(ds) != 1 ||
		!strings.Contains(ds[0].Detail, "state replace-provider registry.terraform.io/-/time registry.terraform.io/hashicorp/time") {
		t.Error(ds)
	}
}

func TestReadOnlyLockFile(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0", "acme/bar 1.0.0")
	ensure := func(lines ...string) string {
		_, ds := s.ensure(install.Request{Requirements: requirements(t, lines...), ReadOnly: true})
		var summaries []string
		for _, d := range ds {
			summaries = append(summaries, d.Severity.String()+": "+d.Summary)
		}
		return strings.Join(summaries, ", ")
	}
	const changed, notUpdated = "error: Provider dependency changes detected", "warning: Provider lock file not updated"
	if got := ensure("acme/foo"); got != changed {
		t.Errorf("without a lock file: %s", got)
	}
	s.init("acme/foo")
	if got := ensure("acme/foo"); got != "" {
		t.Errorf("with one that fits: %s", got)
	}
	if got := ensure("acme/foo", "acme/bar"); got != changed {
		t.Errorf("with another provider: %s", got)
	}
	if got := ensure(); got != changed {
		t.Errorf("with a provider less: %s", got)
	}
	var shorter []string
	for line := range strings.Lines(s.lock()) {
		if !strings.Contains(line, "h1:") {
			shorter = append(shorter, line)
		}
	}
	s.write(lockfile.Name, strings.Join(shorter, ""))
	if got := ensure("acme/foo"); got != notUpdated {
		t.Errorf("with a checksum less: %s", got)
	}
}

func TestPackageThatWasTamperedWith(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	s.init("acme/foo")
	before := s.lock()
	program := ".terraform/providers/" + registrytest.Host + "/acme/foo/1.0.0/" + platform + "/terraform-provider-foo_v1.0.0"
	s.write(program, "evil")
	// Init installs it anew.
	result := s.init("acme/foo")
	if content, _ := os.ReadFile(s.path(program)); string(content) == "evil" || result.Changed || s.lock() != before {
		t.Errorf("%q, %s", content, s.lock())
	}
	// What the server has must still be what was locked.
	s.write(program, "evil")
	s.write(lockfile.Name, strings.ReplaceAll(strings.ReplaceAll(before, "h1:", "h1:0"), "zh:", "zh:0"))
	if _, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo")}); !ds.HasErrors() ||
		!strings.Contains(ds[0].Detail, "doesn't match any of the checksums previously recorded") {
		t.Error(ds)
	}
}

func TestInterruption(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	in := s.installer()
	ctx, cancel := context.WithCancel(t.Context())
	in.Events = func(e install.Event) {
		if e.Kind == install.Installing {
			cancel()
		}
	}
	result, ds := in.Ensure(ctx, install.Request{Requirements: requirements(t, "acme/foo")})
	if len(result.Selections) > 0 || !ds.HasErrors() || ds[len(ds)-1].Summary != "Provider installation was canceled" {
		t.Errorf("%v", ds)
	}
	s.noRubbish()
}
