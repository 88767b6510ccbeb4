package storytest

import "testing"

// TestStories plays all stories.
func TestStories(t *testing.T) {
	Play(t, "plans", "applies", "commands", "sealing", "webhooks", "rounds", "waves", "outputs")
}
