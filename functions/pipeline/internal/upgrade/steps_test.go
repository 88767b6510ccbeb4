package upgrade

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// open makes the repository, with the story's files of the base branch.
func (s *stage) open(files map[string]string) {
	s.files = files
	base := githubtest.Files{}
	for name, text := range files {
		file, ok := strings.CutPrefix(name, "base/")
		if !ok {
			continue
		}
		base[file] = expand(text)
		if path.Base(file) == "main.tf" {
			base[path.Join(path.Dir(file), "backend.tf")] = fmt.Sprintf("terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key    = %q\n    region = \"eu-west-1\"\n  }\n}\n", path.Dir(file))
		}
	}
	s.repo = s.hub.AddRepository("acme", "infra", base)
	for _, who := range []string{"alice", "bob", "carol"} {
		s.repo.Grant(who, "write")
	}
}

// expand writes resources for "res(NAME)" and "res(NAME=INPUT)", and for "bad(NAME)" one whose apply fails.
func expand(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		kind, rest, _ := strings.Cut(line, "(")
		name, input, set := strings.Cut(strings.TrimSuffix(rest, ")"), "=")
		if !set {
			input = "1"
		}
		more := ""
		switch kind {
		case "bad":
			more = "  lifecycle {\n    postcondition {\n      condition     = self.id == \"x\"\n      error_message = \"not ready\"\n    }\n  }\n"
		case "res":
		default:
			b.WriteString(line + "\n")
			continue
		}
		fmt.Fprintf(&b, "resource \"terraform_data\" %q {\n  input = %q\n%s}\n", name, input, more)
	}
	return b.String()
}

// content is what a push changes: FILE=TEXT, FILE=- for a deletion, FILE=@NAME for a file of the story.
func (s *stage) content(words []string) githubtest.Files {
	out := githubtest.Files{}
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		switch {
		case text == "-":
			out[name] = githubtest.Deleted
		case strings.HasPrefix(text, "@"):
			out[name] = s.files[text[1:]]
			if out[name] == "" {
				s.t.Fatalf("the story has no file %s", text[1:])
			}
		default:
			out[name] = expand(text)
		}
	}
	return out
}

// people carries out an act of somebody on GitHub. ok is false for other steps. name names an answer that is to come; "" for none.
func (s *stage) people(line string) (number int, name string, ok bool) {
	words := strings.Fields(line)
	n := func(i int) int {
		x, err := strconv.Atoi(words[i])
		if err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		return x
	}
	switch words[0] {
	case "push":
		s.repo.Push(words[1], words[2], "Change "+words[2], s.content(words[3:]))
	case "pull":
		s.repo.Push(words[1], words[2], "Change "+words[2], s.content(words[3:]))
		s.repo.OpenPull(words[1], "Change "+words[2], words[2])
		s.pulls++
	case "say":
		text := strings.SplitN(line, " ", 4)[3]
		return n(2), strconv.FormatInt(s.repo.Comment(words[1], n(2), text), 10), true
	case "merge":
		s.repo.Merge(words[1], n(2))
		return n(2), "merge", true
	case "close":
		s.repo.Close(words[1], n(2))
		return n(2), "close", true
	case "reopen":
		s.repo.Reopen(words[1], n(2))
	case "approve":
		s.repo.Review(words[1], n(2), github.Approved, "")
	case "enqueue":
		s.repo.Enqueue(words[1], n(2))
	case "land":
		s.repo.Land("lockstep")
	case "team":
		s.hub.SetTeam("acme", words[1], words[2:]...)
	default:
		return 0, "", false
	}
	return 0, "", true
}

// step carries out a line of a story. A "~" before it leaves open what follows.
func (s *stage) step(line string) {
	s.lines = append(s.lines, line)
	line, unsettled := strings.CutPrefix(line, "~")
	words := strings.Fields(line)
	if before, project, ok := strings.Cut(line, " $PLAN "); ok {
		number, _ := strconv.Atoi(words[2])
		line = before + " " + s.plan(number, project)
	}
	time.Sleep(10 * time.Second)
	switch words[0] {
	case "hold":
		for _, kind := range words[1:] {
			s.held[pipeline.Kind(kind)] = true
		}
		return
	case "release":
		clear(s.held)
	case "dies":
		s.store.nth, _ = strconv.Atoi(words[1])
		s.store.dies = strings.Join(words[2:], " ")
		return
	case "wait":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(d)
	case "round":
		s.round()
	case "redeliver":
		for _, id := range s.hub.Deliveries() {
			if _, err := s.hub.Redeliver(s.t.Context(), id); err != nil {
				s.trace("webhook: %v", err)
			}
		}
	case "show":
		number, _ := strconv.Atoi(words[1])
		for _, text := range s.comments(number, comment.StatusMarker) {
			s.trace("%s", text)
		}
		return
	case "records":
		for key, rec := range s.store.records {
			if strings.HasPrefix(key, words[1]) {
				s.trace("%s %s", key, rec.Value)
			}
		}
		return
	default:
		s.note("%s", line)
		number, name, ok := s.people(line)
		if !ok {
			s.t.Fatalf("unknown step %s", line)
		}
		if unsettled {
			return
		}
		s.settle()
		if name == "" {
			return
		}
		for _, marker := range []string{comment.AnswerMarker(name), comment.ResultMarker(name)} {
			list := s.comments(number, marker)
			if len(list) > 1 {
				s.t.Errorf("%s: %d answers", line, len(list))
			}
			for _, text := range list {
				s.trace("%s", gist(text))
			}
		}
		return
	}
	if !unsettled {
		s.settle()
	}
}

// plan is the hash of the plan of a project that is shown on a pull request.
func (s *stage) plan(number int, project string) string {
	for _, rec := range s.store.records {
		var r struct {
			Pull              pipeline.Pull
			Project, PlanHash string
		}
		if strings.HasPrefix(rec.Key, "run/") && json.Unmarshal(rec.Value, &r) == nil && r.Pull.Number == number && r.Project == project {
			return r.PlanHash
		}
	}
	return "nothing"
}

// repeat plays the journal of another stage.
func (s *stage) repeat(journal []string) {
	s.deaf = true
	client, err := s.app.Repository(s.repo.Installation(), s.repo.Repo())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, line := range journal {
		at, act, _ := strings.Cut(line, " ")
		seconds, err := strconv.Atoi(strings.TrimPrefix(at, "+"))
		if err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		time.Sleep(time.Until(s.began.Add(time.Duration(seconds) * time.Second)))
		verb, rest, _ := strings.Cut(act, " ")
		switch {
		case act == "deliver":
			if _, err := s.hub.Deliver(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
		case slices.Contains([]string{"GET", "POST", "PATCH", "PUT", "DELETE"}, verb):
			if _, err := client.Permission(s.t.Context(), "alice"); err != nil { // for a token that is good
				s.t.Fatal(err)
			}
			address, body, _ := strings.Cut(rest, " ")
			req := httptest.NewRequest(verb, "http://127.0.0.1"+address, strings.NewReader(body))
			req.Header.Set("Authorization", s.token)
			req.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			s.hub.ServeHTTP(answer, req)
			if answer.Code >= http.StatusInternalServerError || answer.Code == http.StatusUnauthorized {
				s.t.Errorf("%s: %d %s", act, answer.Code, answer.Body)
			}
		default:
			if _, _, ok := s.people(act); !ok {
				s.t.Fatalf("unknown act %s", act)
			}
		}
	}
	s.deaf = false
	s.journal = append([]string(nil), journal...)
}
