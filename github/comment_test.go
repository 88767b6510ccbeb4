package github_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lockstep-iac/lockstep/github"
)

func TestPutComment(t *testing.T) {
	s := newSetting(t)
	const marker = "<!-- marker -->"
	s.repo.Comment("mallory", 1, marker+" I was here first")
	for range 110 { // more than one page
		s.repo.Comment("alice", 1, "chat")
	}
	first, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, marker+"\none")
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, marker+"\none"); err != nil || again != first {
		t.Errorf("the same text again: %d, %v; the first was %d", again, err, first)
	}
	if again, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, marker+"\ntwo"); err != nil || again != first {
		t.Errorf("another text: %d, %v; the first was %d", again, err, first)
	}
	var lines []string
	for _, l := range s.hub.Lines() {
		if strings.Contains(l, "lockstep[bot]") {
			lines = append(lines, l)
		}
	}
	want := []string{"comment #112 on #1 by lockstep[bot]: one", "edit #112 on #1 by lockstep[bot]: two"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	const other = "<!-- other -->"
	quoting, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, other, other+"\nsomebody wrote "+marker)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, marker+"\ntwo"); err != nil || again != first {
		t.Errorf("beside one that has the marker in its text: %d, %v", again, err)
	}
	if all := s.repo.Comments(1); all[len(all)-1].ID != quoting {
		t.Errorf("a comment with the marker in its text was taken for a twin: %+v", all[len(all)-1])
	}
	odd := marker + strings.Repeat("\xff\n", github.MaxComment/2-len(marker))
	for range 2 {
		if again, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, odd); err != nil || again != first {
			t.Errorf("not UTF-8: %d, %v", again, err)
		}
	}
	if n := s.count("PATCH "); n != 2 {
		t.Errorf("%d edits of two", n)
	}
	if _, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, "<!-- other -->", "<!-- other -->"+strings.Repeat("x", github.MaxComment)); err == nil {
		t.Error("a comment that is too long was sent")
	}
}

// TestEarlierComment holds that a comment whose ID is known costs one request to find, and one whose time is known few, however many comments there
// are; and that it is looked for among all where the ID is none of ours with the marker.
func TestEarlierComment(t *testing.T) {
	s := newSetting(t)
	const marker = "<!-- marker -->"
	for range 210 {
		s.repo.Comment("alice", 1, "chat")
	}
	id, at, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, marker+"\none")
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{Since: at}, "<!-- other -->", "<!-- other -->")
	if err != nil {
		t.Fatal(err)
	}
	theirs := s.repo.Comment("mallory", 1, marker+" mine")
	for _, test := range []struct {
		e        github.Earlier
		requests int
	}{
		{github.Earlier{ID: id}, 1},
		{github.Earlier{Since: at}, 1},
		{github.Earlier{ID: other}, 4},
		{github.Earlier{ID: theirs}, 4},
		{github.Earlier{ID: 987654}, 4},
		{github.Earlier{ID: theirs, Since: at}, 2},
	} {
		before := s.count("GET ")
		got, _, err := s.client.PutComment(t.Context(), 1, test.e, marker, fmt.Sprint(marker, "\n", test.e))
		if n := s.count("GET ") - before; err != nil || got != id || n != test.requests {
			t.Errorf("%+v: %d with %d requests to read, %v; want %d with %d", test.e, got, n, err, id, test.requests)
		}
	}
	if mine := s.repo.Comments(1); mine[len(mine)-1].Body != marker+" mine" {
		t.Errorf("a comment of somebody else was changed: %+v", mine[len(mine)-1])
	}
}

// TestTwins holds that of two comments with one marker the older one stays.
func TestTwins(t *testing.T) {
	s := newSetting(t)
	const marker = "<!-- marker -->"
	var ids []int64
	for range 2 { // two that see no comment yet
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != "GET" || !strings.HasSuffix(r.URL.Path, "/comments") {
				return false
			}
			io.WriteString(w, "[]")
			return true
		}
		id, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, marker)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	s.fault = nil
	id, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, marker+"\nnow")
	if err != nil || id != ids[0] {
		t.Errorf("%d, %v", id, err)
	}
	if left := s.repo.Comments(1); len(left) != 1 || left[0].ID != ids[0] || left[0].Body != marker+"\nnow" {
		t.Errorf("%+v", left)
	}
}

// TestMinimize holds that a comment of ours is folded, and nobody else's.
func TestMinimize(t *testing.T) {
	s := newSetting(t)
	const marker = "<!-- marker -->"
	theirs := s.repo.Comment("mallory", 1, marker+" I was here first")
	ours, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, marker, marker+"\none")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{ours, ours, theirs, 999} {
		if err := s.client.Minimize(t.Context(), id); err != nil {
			t.Errorf("%d: %v", id, err)
		}
	}
	for _, c := range s.repo.Comments(1) {
		if c.Minimized != (c.ID == ours) {
			t.Errorf("comment %d by %s: minimized is %t", c.ID, c.Author, c.Minimized)
		}
	}
}

func TestReact(t *testing.T) {
	s := newSetting(t)
	id := s.repo.Comment("alice", 1, "hello")
	for range 2 {
		if err := s.client.React(t.Context(), id, github.Eyes); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"eyes by lockstep[bot]"}, s.repo.Comments(1)[0].Reactions); diff != "" {
		t.Error(diff)
	}
}
