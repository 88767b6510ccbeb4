package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// partFlags say which part of the configuration is meant: -target or -exclude, and their
// forms with a file. Source: OpenTofu 1.10.
type partFlags struct {
	app                       *app
	targets, excludes         listFlag
	targetFiles, excludeFiles listFlag
}

func (f *flags) partial(p *partFlags) {
	p.app = f.app
	f.Var(&p.targets, "target", "only this module, resource or instance and what it depends on")
	f.Var(&p.targetFiles, "target-file", "like -target, with an address on each line of a file")
	f.Var(&p.excludes, "exclude", "all but this module, resource or instance and what depends on it")
	f.Var(&p.excludeFiles, "exclude-file", "like -exclude, with an address on each line of a file")
}

// given reports whether only part of the configuration is meant.
func (p *partFlags) given() bool {
	return len(p.targets)+len(p.targetFiles)+len(p.excludes)+len(p.excludeFiles) > 0
}

// addresses reads what was given.
func (p *partFlags) addresses() (targets, excludes []addrs.Target, err error) {
	if len(p.targets)+len(p.targetFiles) > 0 && len(p.excludes)+len(p.excludeFiles) > 0 {
		return nil, nil, errors.New("-target and -exclude cannot be used together")
	}
	if targets, err = p.read("-target", p.targets, p.targetFiles); err != nil {
		return nil, nil, err
	}
	excludes, err = p.read("-exclude", p.excludes, p.excludeFiles)
	return targets, excludes, err
}

// read reads the addresses of an option and of its form with a file.
func (p *partFlags) read(option string, given, files []string) ([]addrs.Target, error) {
	var out []addrs.Target
	for _, s := range given {
		t, err := addrs.ParseTarget(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", option, err)
		}
		out = append(out, t)
	}
	for _, name := range files {
		src, err := os.ReadFile(p.app.path(name))
		if err != nil {
			return nil, fmt.Errorf("%s-file: %w", option, err)
		}
		for i, line := range strings.Split(string(src), "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			t, err := addrs.ParseTarget(line)
			if err != nil {
				return nil, fmt.Errorf("%s-file: %s:%d: %w", option, name, i+1, err)
			}
			out = append(out, t)
		}
	}
	return out, nil
}
