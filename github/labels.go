package github

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/github/internal/labelling"
)

// A LabelEvent is a time at which somebody put a label on a pull request, or removed it.
type LabelEvent = labelling.Event

// LabelEvents returns all of them, oldest first.
func (c *Client) LabelEvents(ctx context.Context, number int) ([]LabelEvent, error) {
	out, err := labelling.Events(ctx, c.client.Issues, c.repo.Owner, c.repo.Name, number)
	return out, failed(fmt.Sprintf("list the events of pull request %s#%d", c.repo, number), err)
}
