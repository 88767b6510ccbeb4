package github

import "testing"

// TestCoAuthor holds that the user whom a commit's message names with [CoAuthor] is found again.
func TestCoAuthor(t *testing.T) {
	for _, login := range []string{"bob", "Bob-7", "bob_acme", "helper[bot]"} {
		found := coAuthor().FindStringSubmatch("Title\n\nRequested by somebody in #1.\n\n" + CoAuthor(login) + "\n")
		if len(found) != 2 || found[1] != login {
			t.Errorf("%s: %q", login, found)
		}
	}
	for _, text := range []string{"Co-authored-by: bob <bob@example.org>", "not co-authored-by: bob <bob@users.noreply.github.com>"} {
		if found := coAuthor().FindString(text); found != "" {
			t.Errorf("%s: %q", text, found)
		}
	}
}
