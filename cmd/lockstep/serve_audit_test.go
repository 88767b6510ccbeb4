package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// waiting starts serve with a requirement of one approval, and of more, and with a pull request that waits for it.
func (s *served) waiting(more string) *process {
	s.T.Helper()
	s.repo.Push("alice", "main", "Requirements", githubtest.Files{"lockstep.hcl": "project \"network\" {\n  dir = \"network\"\n}\n\nrequire \"apply\" {\n  approvals = 1\n" + more + "}\n"})
	p := s.start()
	s.repo.Push("alice", "hosts", "Two hosts", githubtest.Files{"network/main.tf": fmt.Sprintf(servedNetwork, 2)})
	s.repo.OpenPull("alice", "Two hosts", "hosts")
	s.deliver()
	s.await("**needs approval**")
	return p
}

// TestAudit applies one change with serve. Its audit records say who may apply it and why, and prove it. Then somebody
// edits, removes and forges records, and each time the verification says where.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	p := s.waiting("")
	run := func(code int, args string, want ...string) string {
		t.Helper()
		r := s.Run(append([]string{"audit"}, strings.Fields(args)...)...)
		if r.Code != code {
			t.Errorf("audit %s: exit code %d, want %d: %s%s", args, r.Code, code, r.Out, r.Stderr)
		}
		for _, w := range want {
			if !strings.Contains(r.Out+r.Stderr, w) {
				t.Errorf("audit %s lacks %q: %s%s", args, w, r.Out, r.Stderr)
			}
		}
		return r.Out
	}
	run(1, "verify -data data", "the data directory data has no audit records", "when it applies something")
	s.repo.Comment("alice", 1, "lockstep apply")
	s.deliver()
	s.await("**Not applied**")
	s.repo.Grant("bob", "write")
	s.repo.Review("bob", 1, "approved", "")
	s.repo.Comment("alice", 1, "lockstep apply")
	s.deliver()
	s.await("**Applied** `network`")
	p.stop(os.Interrupt)

	run(0, "verify -data data", "3 records about 1 state, with 1 applies. Each apply was allowed.")
	log := run(0, "log -data data", "apply refused", "alice may not apply plan ", "alice may apply plan ", ", approved by bob", "apply ended", "complete: 2 added, 0 changed, 0 destroyed")
	if n := strings.Count(log, "\n"); n != 3 {
		t.Errorf("%d lines: %s", n, log)
	}
	for args, want := range map[string]int{"-by BOB": 0, "-by ALICE": 3, "-event apply_ended": 1, "-p net*": 3, "-p app": 0, "-repo Acme/*": 3, "-repo acme/x": 0, "-since 1h": 3, "-since 2001-01-01": 3} {
		fields := strings.Fields(args)
		fields[1] = strings.ReplaceAll(fields[1], "_", " ")
		if r := s.Run(append([]string{"audit", "log", "-data", "data"}, fields...)...); r.Code != 0 || strings.Count(r.Out, "\n") != want {
			t.Errorf("audit log %s: %d: %s%s", args, r.Code, r.Out, r.Stderr)
		}
	}
	run(1, "log -data data -event applied", "there are no records of the kind \"applied\"", "\"apply ended\"")
	run(1, "log -data data -since soon", "\"soon\" is not a time", "2026-11-01")
	run(1, "log -data data -p [", "is not a valid pattern")
	run(1, "log -data data -json -ocsf", "Give -json or -ocsf, not both.")
	run(1, "log nowhere", "there is no directory nowhere", "aws s3 sync")

	// The attributes that the schema requires of each event of its class.
	for line := range strings.Lines(run(0, "log -data data -ocsf")) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"activity_id", "actor", "api", "category_uid", "class_uid", "metadata", "severity_id", "src_endpoint", "time", "type_uid"} {
			if event[name] == nil || event[name] == 0.0 {
				t.Errorf("the event lacks %s: %s", name, line)
			}
		}
	}

	files, err := filepath.Glob(filepath.Join(s.Dir.Path, "data", "audit", "*", "*", "*.json"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	attack := func(name, want string, forge func()) {
		t.Helper()
		was := map[string][]byte{}
		for _, f := range files {
			if was[f], err = os.ReadFile(f); err != nil {
				t.Fatal(err)
			}
		}
		forge()
		t.Log(name)
		run(2, "verify -data data", want, "are not in order")
		for f, data := range was {
			if err := os.WriteFile(f, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	edit := func(file, old, now string) func() {
		return func() {
			data, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(data), old) {
				t.Fatalf("%s lacks %s: %v", data, old, err)
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(data), old, now, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(file string) func() {
		return func() {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	attack("an approval of another person", "Error: record 2. The record was changed after record 3 was written.", edit(files[1], `"Approved":["bob"]`, `"Approved":["eve"]`))
	attack("an edited review", "Error: record 2. The facts in the record lead to another decision", edit(files[1], `"State":"approved"`, `"State":"dismissed"`))
	attack("the last record", "Error: record 3. The record was changed after it was written.", edit(files[2], `"By":"alice"`, `"By":"mallory"`))
	attack("the end is removed", "Error: record 3. The record is missing. The chain ends with record 2", remove(files[2]))
	attack("the first is removed", "Error: record 2. The records before it are missing, from 1 to 1.", remove(files[0]))
	attack("one between is removed", "Error: record 3. The records before it are missing, from 2 to 2.", remove(files[1]))

	// All records of one state are removed. Another state of the repository has records, so the notes are looked at.
	chain := filepath.Dir(files[0])
	beside := filepath.Join(filepath.Dir(chain), "beside@default")
	if err := errors.Join(os.CopyFS(beside, os.DirFS(chain)), os.Rename(chain, chain+"-hidden")); err != nil {
		t.Fatal(err)
	}
	run(2, "verify -data data", "Error: record 3. All records of the state are missing, but Lockstep has written this one at", "The record belongs to another chain")
	if err := errors.Join(os.RemoveAll(beside), os.Mkdir(filepath.Join(s.Dir.Path, "empty"), 0o700)); err != nil {
		t.Fatal(err)
	}
	hidden := filepath.Join(s.Dir.Path, "hidden")
	if err := os.Rename(chain+"-hidden", hidden); err != nil {
		t.Fatal(err)
	}
	run(1, "verify -data data", "there are no audit records", "somebody has removed the records")
	run(1, "verify -table records empty", "leave out the directory, or -bucket and -table")
	run(1, "verify -table records -data data", "no bucket is given")
	run(1, "verify empty", "there are no audit records", "aws s3 sync")
	if err := os.Rename(hidden, chain); err != nil {
		t.Fatal(err)
	}
	attack("a text that moves the cursor", "The record belongs to another chain:  [2J", edit(files[2], `"Chain":"`, `"Chain":"\u001b[2J`))

	// A copy has no notes of the last record, so its end can be removed unnoticed.
	if err := os.CopyFS(filepath.Join(s.Dir.Path, "copy"), os.DirFS(filepath.Join(s.Dir.Path, "data", "audit"))); err != nil {
		t.Fatal(err)
	}
	run(0, "verify copy", "3 records about 1 state")
	if err := os.WriteFile(filepath.Join(s.Dir.Path, "copy", filepath.Base(filepath.Dir(filepath.Dir(files[0]))), filepath.Base(filepath.Dir(files[0])), "0000000004.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(2, "verify copy", "Error: record 4. The record cannot be read")
	run(1, "log copy", "1 records are damaged")
}
