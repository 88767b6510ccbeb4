package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
)

// checkerName is the name of the tool in stories about steps, which is this program. It has two commands:
//
//	checker ranges DIR   reports subnets outside of 10.0.0.0/8, as SARIF
//	checker costs FILE   reports what the plan in FILE costs, in the form of infracost
const checkerName = "checker"

// check does the work of the tool. It returns the exit code.
func check(args []string, out, errs io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintln(errs, "checker ranges DIR, or checker costs FILE")
		return 64
	}
	found, err := map[string]func(string, io.Writer) (bool, error){"ranges": ranges, "costs": costs}[args[0]](args[1], out)
	if err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	if found {
		return 2
	}
	return 0
}

// rangePattern matches a subnet in a configuration.
var rangePattern = regexp.MustCompile(`"([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+)"`)

// ranges reports the subnets outside of 10.0.0.0/8 in the configuration files of a directory.
func ranges(dir string, out io.Writer) (found bool, err error) {
	type m = map[string]any
	results := []any{}
	files, err := filepath.Glob(filepath.Join(dir, "*.tf"))
	if err != nil {
		return false, err
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, match := range rangePattern.FindAllStringSubmatch(line, -1) {
				if strings.HasPrefix(match[1], "10.") {
					continue
				}
				results = append(results, m{
					"ruleId": "private-range", "level": "error", "message": m{"text": match[1] + " is outside of 10.0.0.0/8"},
					"locations": []any{m{"physicalLocation": m{"artifactLocation": m{"uri": filepath.Base(path)}, "region": m{"startLine": i + 1}}}},
				})
			}
		}
	}
	return len(results) > 0, json.NewEncoder(out).Encode(m{"version": "2.1.0", "runs": []any{m{"tool": m{"driver": m{"name": checkerName}}, "results": results}}})
}

// price is what an object costs in a month, in hundredths of a dollar.
const price = 420

// costs reports what the objects of a plan cost before and after it.
func costs(path string, out io.Writer) (found bool, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var plan struct {
		Changes []struct {
			Change struct{ Actions []string }
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(data, &plan); err != nil {
		return false, err
	}
	before, after := 0, 0
	for _, c := range plan.Changes {
		if !slices.Contains(c.Change.Actions, "create") || len(c.Change.Actions) > 1 {
			before += price
		}
		if !slices.Contains(c.Change.Actions, "delete") || len(c.Change.Actions) > 1 {
			after += price
		}
	}
	type m = map[string]any
	cost := func(cents int) m {
		return m{"totalMonthlyCost": fmt.Sprintf("%d.%02d", cents/100, cents%100), "resources": []any{}}
	}
	return false, json.NewEncoder(out).Encode(m{"version": "0.2", "currency": "USD", "projects": []any{m{"name": "network", "pastBreakdown": cost(before), "breakdown": cost(after)}}})
}

// storeChecker stores this program as a tool in the world's data directory. It returns the argument tools of
// lockstep.hcl.
func (w *World) storeChecker() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	w.tool = localpipeline.ToolPath(w.data, digest)
	if err := os.MkdirAll(filepath.Dir(w.tool), 0o700); err != nil {
		return "", err
	}
	// A link needs no space: the program is large.
	if err := os.Symlink(self, w.tool); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return fmt.Sprintf("\ntools = {\n  %s = \"sha256:%s\"\n}\n", checkerName, digest), nil
}
