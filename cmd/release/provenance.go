package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// A digest is the name of a file with the file's checksum.
type digest struct{ file, sha256 string }

func (r release) digests(files []string) ([]digest, error) {
	var out []digest
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(r.dir, f))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		out = append(out, digest{f, hex.EncodeToString(sum[:])})
	}
	return out, nil
}

func (r release) writeJSON(file string, v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, file), out.Bytes(), 0o644)
}

// A statement has the facts that the provenance of a release states.
type statement struct {
	version   string
	platforms []string
	source    source
	subjects  []digest
	made      []program
}

// provenanceOf returns an in-toto statement with SLSA provenance: the files, their commit and modules, the Go
// version, and the workflow run that made them, from GitHub's environment variables.
// Source: https://slsa.dev/spec/v1.0/provenance
func provenanceOf(s statement, env func(string) string) map[string]any {
	subjects := []any{}
	for _, d := range s.subjects {
		subjects = append(subjects, map[string]any{"name": d.file, "digest": map[string]any{"sha256": d.sha256}})
	}
	repository, builder, invocation := "https://"+module, "https://"+module+"/blob/main/Makefile", ""
	if server, name := env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY"); server != "" && name != "" {
		repository = server + "/" + name
		// builder is the address of the workflow that makes the release.
		// Source: https://docs.github.com/en/actions/reference/workflows-and-actions/variables
		builder = server + "/" + env("GITHUB_WORKFLOW_REF")
		invocation = strings.Join([]string{repository, "actions/runs", env("GITHUB_RUN_ID"), "attempts", env("GITHUB_RUN_ATTEMPT")}, "/")
	}
	materials := []any{map[string]any{"uri": "git+" + repository + "@" + s.source.revision, "digest": map[string]any{"gitCommit": s.source.revision}}}
	for _, c := range billOf(s.version, s.made).Components {
		m := map[string]any{"uri": c.PURL}
		if len(c.Hashes) > 0 {
			m["digest"] = map[string]any{"dirHash1": c.Hashes[0].Content}
		}
		materials = append(materials, m)
	}
	run := map[string]any{"builder": map[string]any{"id": builder}}
	if invocation != "" {
		run["metadata"] = map[string]any{"invocationId": invocation}
	}
	return map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType": "https://" + module + "/blob/main/cmd/release@v1",
				"externalParameters": map[string]any{
					"version": s.version, "platforms": s.platforms, "source": map[string]any{"uri": "git+" + repository, "revision": s.source.revision},
				},
				"internalParameters": map[string]any{
					"go": s.made[0].info.GoVersion, "modified": s.source.modified, "committed": s.source.time,
				},
				"resolvedDependencies": materials,
			},
			"runDetails": run,
		},
	}
}
