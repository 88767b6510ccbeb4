package project

import (
	"maps"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

func TestProviderLimits(t *testing.T) {
	t.Parallel()
	if ProviderLimits(nil) != nil {
		t.Error("no limits are a function")
	}
	limit := ProviderLimits(map[string]int{"aws": 4, "hashicorp/aws": 6, "acme/aws": 2, "registry.example.com/acme/dns": 1, "GOOGLE": 3})
	for source, want := range map[string]int{
		"hashicorp/aws": 4, "acme/aws": 2, "other/aws": 4, "registry.example.com/x/aws": 4,
		"registry.opentofu.org/hashicorp/aws": 4, "registry.opentofu.org/acme/aws": 2, "registry.example.com/acme/dns": 1, "acme/dns": 0, "hashicorp/google": 3, "hashicorp/random": 0,
	} {
		p, err := addrs.ParseProvider(source)
		if err != nil {
			t.Fatal(err)
		}
		if got := limit(p); got != want {
			t.Errorf("%s: %d, want %d", source, got, want)
		}
	}
}

// TestProviderParallelism is a table of the argument: a project's own limits take the place of the defaults, and each
// mistake is told at its line.
func TestProviderParallelism(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		limits map[string]int
		says   string
	}{
		"":                                       {map[string]int{"aws": 9}, ""},
		"provider_parallelism = {}":              {nil, ""},
		"provider_parallelism = { aws = 1 }":     {map[string]int{"aws": 1}, ""},
		"provider_parallelism = { \"aws\" = 1 }": {map[string]int{"aws": 1}, ""},
		"provider_parallelism = {\n    dns = 1\n    \"registry.example.com/x/y\" = 10\n  }": {map[string]int{"dns": 1, "registry.example.com/x/y": 10}, ""},
		"provider_parallelism = {\n    dns = 1\n    aws = 0\n  }":                           {nil, `error: lockstep.hcl:8: Invalid value: The limit of the provider "aws" must be 1 or more.`},
		"provider_parallelism = { aws = -1 }":                                               {nil, `error: lockstep.hcl:6: Invalid value: The limit of the provider "aws" must be 1 or more`},
		"provider_parallelism = { aws = 1e30 }":                                             {nil, `warning: lockstep.hcl:6: Limit without effect: Lockstep makes at most 10 calls at a time to all providers together`},
		"provider_parallelism = { aws = 1.5 }":                                              {nil, `error: lockstep.hcl:6: Invalid value: The argument "provider_parallelism" must be whole numbers by names: { NAME = 1 }.`},
		"provider_parallelism = { aws = \"1\" }":                                            {nil, `error: lockstep.hcl:6: Invalid value: The argument "provider_parallelism" must be whole numbers`},
		"provider_parallelism = { aws = null }":                                             {nil, `error: lockstep.hcl:6: Invalid value`},
		"provider_parallelism = 1":                                                          {nil, `error: lockstep.hcl:6: Invalid value: The argument "provider_parallelism" must be whole numbers`},
		"provider_parallelism = { \"a/b/c/d\" = 1 }":                                        {nil, `error: lockstep.hcl:6: Invalid provider: "a/b/c/d" does not name a provider`},
		"provider_parallelism = { \"a b\" = 1 }":                                            {nil, `error: lockstep.hcl:6: Invalid provider: "a b" does not name a provider`},
		"provider_parallelism = { \"*\" = 1 }":                                              {nil, `error: lockstep.hcl:6: Invalid provider`},
	} {
		s, ds := Parse(FileName, []byte("defaults {\n  provider_parallelism = { aws = 9 }\n}\nproject \"net\" {\n  dir = \"net\"\n  "+body+"\n}\n"))
		if got := said(ds); len(ds) > 1 || want.says == "" && got != "" || !strings.Contains(got, want.says) {
			t.Errorf("%s: %s\nwant %s", body, got, want.says)
		}
		if want.says == "" && !maps.Equal(s.Projects[0].ProviderParallelism, want.limits) {
			t.Errorf("%s: %v, want %v", body, s.Projects[0].ProviderParallelism, want.limits)
		}
	}
}
