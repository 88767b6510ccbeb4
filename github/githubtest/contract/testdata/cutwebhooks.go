// Command cutwebhooks makes our part of the community's description of GitHub's webhooks: the
// schemas of the events that Lockstep reads, with their references, and the real payloads of
// these events and, in a file of their own, of all others. From the repository's root:
//
//	npm pack @octokit/webhooks-schemas@7.6.1 && tar xzf octokit-webhooks-schemas-7.6.1.tgz package/schema.json
//	npm pack @octokit/webhooks-examples@7.6.1 && tar xzf octokit-webhooks-examples-7.6.1.tgz package/api.github.com/index.json
//	go run ./github/githubtest/contract/testdata/cutwebhooks.go package github
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var events = []string{
	"check_run", "check_suite", "installation", "installation_repositories", "issue_comment", "merge_group", "pull_request", "pull_request_review", "pull_request_review_comment",
	"pull_request_review_thread", "status",
}

type object = map[string]any

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: cutwebhooks PACKAGES GITHUB")
	}
	from, to := os.Args[1], os.Args[2]
	var whole object
	read(filepath.Join(from, "schema.json"), &whole)
	definitions := object{}
	for _, e := range events {
		name := e + "_event"
		if e == "status" { // it has no action
			name = "status$event"
		}
		collect(whole["definitions"].(object), definitions, name)
	}
	schemas, err := json.MarshalIndent(object{"$schema": whole["$schema"], "definitions": prune(definitions, false)}, "", " ")
	if err != nil {
		log.Fatal(err)
	}
	write(filepath.Join(to, "githubtest", "contract", "webhooks.json"), append(schemas, '\n'))

	var all []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	read(filepath.Join(from, "api.github.com", "index.json"), &all)
	examples, others := map[string][]json.RawMessage{}, map[string][]json.RawMessage{}
	for _, a := range all {
		if slices.Contains(events, a.Name) {
			examples[a.Name] = a.Examples
		} else {
			others[a.Name] = a.Examples
		}
	}
	write(filepath.Join(to, "testdata", "webhooks.json.gz"), pack(examples))
	write(filepath.Join(to, "testdata", "otherwebhooks.json.gz"), pack(others))
}

func pack(examples map[string][]json.RawMessage) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err := json.NewEncoder(w).Encode(examples); err != nil {
		log.Fatal(err)
	}
	w.Close()
	return packed.Bytes()
}

// collect copies a definition and its references.
func collect(all, out object, name string) {
	if out[name] != nil {
		return
	}
	out[name] = all[name]
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if ref, ok := v["$ref"].(string); ok {
				collect(all, out, strings.TrimPrefix(ref, "#/definitions/"))
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(all[name])
}

// prune drops prose. Members of properties and of definitions are names and stay.
func prune(v any, keywords bool) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, x := range v {
			if keywords && (name == "description" || name == "title" || name == "tsAdditionalProperties") {
				continue
			}
			out[name] = prune(x, !keywords || name != "properties")
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = prune(x, true)
		}
		return out
	}
	return v
}

func read(name string, to any) {
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func write(name string, data []byte) {
	if err := os.WriteFile(name, data, 0o644); err != nil {
		log.Fatal(err)
	}
}
